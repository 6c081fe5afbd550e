// Command program is a judge.
package main

import (
	"os"

	"example.com/tiny"
)

func main() {
	if tiny.Pinned() != 2 {
		os.Exit(1)
	}
}
