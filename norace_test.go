//go:build !race

package tenure_test

const raceEnabled = false
