package sim

import (
	"crypto/rand"
	"encoding/binary"
)

const (
	// runLength is how far apart runs with fresh seeds begin. It is a power of ten so that a seed tells its run by its
	// first digits, and by its last eight which history of the run it is; a run that plays more takes days.
	runLength = 100_000_000
	// freshRuns is how many runs there are below 2^53, up to which every program that reads a seed reads it exactly.
	freshRuns = 1 << 53 / runLength
	// givenRuns are left to seeds that people write down: those of the tests and most of those in corpus.txt.
	givenRuns = 100
)

// FreshSeed draws the first seed of a run that most likely nobody has played before. Two runs play either the same
// histories, which is as good as impossible, or none in common.
func FreshSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails: without a source of chance it ends the program
	run := givenRuns + binary.LittleEndian.Uint64(b[:])%(freshRuns-givenRuns)
	return run * runLength
}
