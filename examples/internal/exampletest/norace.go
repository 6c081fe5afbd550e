//go:build !race

package exampletest

var race []string
