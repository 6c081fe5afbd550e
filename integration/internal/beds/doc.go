// Package beds starts the real servers of the stores that chaos befalls, and puts proxies between each of them and each
// candidate, so that one candidate can be cut off while the others are not.
package beds
