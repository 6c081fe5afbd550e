package tenuretest

import (
	"fmt"
	"os"
	"runtime"
)

// rounds is how many terms or watches come and go. What else runs in this process comes and goes too, but half of one
// goroutine or open file for each round would stay.
const rounds = 60

func leftTerms(c *trial) {
	election, record := c.name(), c.held()
	current := c.create(election, record)
	before := holds()
	for range rounds {
		record.Token++
		record.Session = nonce()
		current = c.swap(election, current.Version, record)
		current = c.swap(election, current.Version, vacant(record))
	}
	c.nothingLeft(before)
}

func leftWatches(c *trial) {
	election := c.name()
	c.create(election, c.held())
	before := holds()
	for range rounds {
		box := c.watch(election)
		box.listen(calm)
		box.stop()
	}
	c.nothingLeft(before)
}

// holding is what this process holds.
type holding struct{ goroutines, files int }

func holds() holding { return holding{runtime.NumGoroutine(), openFiles()} }

// openFiles counts files and connections, where the system lists them.
func openFiles() int {
	entries, _ := os.ReadDir("/proc/self/fd")
	return len(entries)
}

func (c *trial) nothingLeft(before holding) {
	c.Helper()
	const enough = rounds / 2
	c.eventually(fmt.Sprintf("%d of them left less than %d goroutines and %d open files", rounds, enough, enough),
		func() bool {
			now := holds()
			return now.goroutines-before.goroutines < enough && now.files-before.files < enough
		})
}
