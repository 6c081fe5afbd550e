// Command testrun runs the tests of the whole workspace: make test, make test-all and make steady call it. It gets the
// servers that they need, compiles every test once, runs as many at a time as the machine takes, and tells at the end
// what it left out and where the time went. packages.txt says how each package is tested by which of the first two.
//
// It runs the compiled tests itself, instead of leaving that to go test, so that each is linked once, that what takes
// longest begins first, that the time of each is known, and that a run beside a busy or a stalling machine can be had.
// It does not vet the tests, which the linters do.
package main
