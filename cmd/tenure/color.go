package main

import (
	"io"
	"os"

	"golang.org/x/term"
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
	if c == plain || text == "" || !colored(w) {
		return text
	}
	return string(c) + text + reset
}

// colored reports whether w is a terminal whose user wants colors (no-color.org).
func colored(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// isTerminal reports whether a stream is one end of a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
