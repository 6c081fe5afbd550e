//go:build !kubernetes

package main

import "testing"

// TestStoreThatIsLeftOut: who names a store that other builds have is told how to get one of those.
func TestStoreThatIsLeftOut(t *testing.T) {
	const want = `no stores of "kubernetes:": build one with "go build -tags kubernetes ./cmd/tenure"`
	checkRefusal(t, call(t, "--store", "kubernetes://billing", "list"), 125, want)
}
