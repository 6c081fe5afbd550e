//go:build race

package exampletest

// race builds the examples as the tests are built, so that what was compiled for these serves those too, and the
// examples are checked for races as well.
var race = []string{"-race"}
