package main

import (
	"strings"
	"unicode"
)

// printable returns text in one line, without anything that a terminal would obey: records are written by others.
func printable(text string) string {
	return strings.Map(func(char rune) rune {
		switch {
		case unicode.IsPrint(char):
			return char
		case unicode.IsSpace(char):
			return ' '
		}
		return unicode.ReplacementChar
	}, text)
}
