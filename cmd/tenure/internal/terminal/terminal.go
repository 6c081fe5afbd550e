// Package terminal tells what the user's terminal can show.
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Is reports whether a stream is one end of a terminal.
func Is(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Colored reports whether w is a terminal whose user wants colors (no-color.org).
func Colored(w io.Writer) bool {
	return Is(w) && os.Getenv("NO_COLOR") == "" && !Dumb()
}

// Dumb reports whether the terminal understands no escape sequences.
func Dumb() bool { return os.Getenv("TERM") == "dumb" }

// Size returns the size of the terminal that w is, or else the usual 80 by 24 characters.
func Size(w io.Writer) (columns, rows int) {
	if file, ok := w.(*os.File); ok {
		columns, rows, err := term.GetSize(int(file.Fd()))
		if err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return 80, 24
}
