package main

import (
	"fmt"
	"io"
	"os"

	"github.com/tenure-go/tenure/sim"
)

// playCorpus plays the histories that once broke a rule, all of them, and reports those that do so now. Status 2 says
// that the file cannot be read.
func playCorpus(file string, stdout, stderr io.Writer) (status int) {
	cases, err := readCorpus(file)
	if err != nil {
		fmt.Fprintln(stderr, "tenure-sim:", err)
		return 2
	}
	w := sim.NewWorld()
	failed := 0
	for _, c := range cases {
		if !w.Run(c.Kind, c.Seed) {
			failed++
			fmt.Fprintf(stderr, "%s, %v\n", file, c)
			report(c.Kind, c.Seed, w.Violations, stderr)
			status = 1
		}
	}
	fmt.Fprintf(stdout, "%s: %d histories that once failed, %d of which fail\n", file, len(cases), failed)
	return status
}

func readCorpus(name string) ([]sim.Case, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cases, err := sim.ReadCorpus(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return cases, nil
}
