// Package httpproxy stands between an HTTP client and a server, and fails as services and networks do: replies that are
// lost after the server has answered, requests that are throttled or refused with any answer, conditions that are
// dropped on the way, requests that hang. It counts what it sees.
package httpproxy
