//go:build !unix

package main

import "os"

const canStall = false

func freeze(*os.Process) error { return os.ErrInvalid }

func thaw(*os.Process) error { return os.ErrInvalid }
