//go:build race

package tenure_test

// raceEnabled: the race detector's own memory must not count.
const raceEnabled = true
