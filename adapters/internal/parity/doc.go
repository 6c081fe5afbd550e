// Package parity holds what the metrics of both adapters have to agree on: with each other, and with the dashboard and
// the alerts in deploy. It has tests alone, and is a module of its own because they need exporters and parsers that
// nobody who uses an adapter should have to require.
package parity
