// Package testserver runs the real servers that tests and benchmarks need: each on free loopback ports, with a data
// directory of its own, as a direct child that is stopped by its process ID and ends with the test.
//
// A server's program is looked for in the variable TENURE_SERVER_<NAME>, in the cache that .ci/servers fills, where
// its package puts it, and on PATH. Without it the test is skipped and says how to get it. Where the variable
// TENURE_NEED_SERVERS is set, as in CI, a missing server fails the test instead.
//
// Where TENURE_SERVERS is set, the tests of servers that it does not name, separated by spaces, are skipped, whether
// they could be had or not: so make test leaves some to make test-all.
package testserver
