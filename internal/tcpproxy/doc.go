// Package tcpproxy stands between a client and a server that speak TCP, and fails as networks do: connections that are
// cut, that stand open and carry nothing in one direction or both, replies that are lost after the server has acted,
// and delays. It knows no protocol; whoever needs to tell requests apart gives it a function.
package tcpproxy
