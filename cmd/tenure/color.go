package main

import (
	"io"

	"github.com/tenure-go/tenure/cmd/tenure/internal/terminal"
)

// color is an escape sequence of ECMA-48.
type color string

const (
	plain  color = ""
	bold   color = "\x1b[1m"
	faint  color = "\x1b[2m"
	red    color = "\x1b[31m"
	green  color = "\x1b[32m"
	yellow color = "\x1b[33m"

	reset = "\x1b[0m"
)

// paint returns text in a color if output to w shall have any.
func (c color) paint(w io.Writer, text string) string {
	if c == plain || text == "" || !terminal.Colored(w) {
		return text
	}
	return string(c) + text + reset
}
