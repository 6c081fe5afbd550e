// Package consoletest has the tests of the console in a real browser, in a module of their own so that the command does
// not require what drives one.
package consoletest
