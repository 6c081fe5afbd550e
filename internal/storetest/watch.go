package storetest

import (
	"time"

	"github.com/tenure-go/tenure"
)

// Delivery is one call of a deliver function.
type Delivery struct {
	Snapshot tenure.Snapshot
	Err      error
}

// Watch returns what a watch delivers, which ends with the test.
func Watch(tb TB, s tenure.Watcher, election string) <-chan Delivery {
	tb.Helper()
	deliveries := make(chan Delivery, 1000)
	stop, err := s.Watch(tb.Context(), election, func(snapshot tenure.Snapshot, err error) {
		deliveries <- Delivery{snapshot, err}
	})
	if err != nil {
		tb.Fatalf("%v", err)
	}
	tb.Cleanup(stop)
	return deliveries
}

// Await returns the first delivery that is wanted.
func Await(tb TB, deliveries <-chan Delivery, what string, wanted func(Delivery) bool) (d Delivery) {
	tb.Helper()
	timeout := time.After(patience)
	for {
		select {
		case d = <-deliveries:
			if wanted(d) {
				return d
			}
		case <-timeout:
			tb.Fatalf("%s was not delivered within %v", what, patience)
			return d
		}
	}
}

// Failed reports whether a delivery says that the watch is interrupted.
func Failed(d Delivery) bool { return d.Err != nil }

// At is for a delivery of that version.
func At(v tenure.Version) func(Delivery) bool {
	return func(d Delivery) bool { return d.Err == nil && d.Snapshot.Version == v }
}
