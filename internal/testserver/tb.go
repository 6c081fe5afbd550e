package testserver

// TB is what this package needs of a test or benchmark: testing.TB has it all, and so can a program that is no test.
type TB interface { //nolint:interfacebloat // it has to be met by testing.TB, which has more
	Helper()
	Name() string
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
	Failed() bool
	Cleanup(f func())
}
