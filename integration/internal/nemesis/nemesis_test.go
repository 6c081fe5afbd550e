//go:build linux

package nemesis

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure/integration/internal/beds"
	"github.com/tenure-go/tenure/integration/internal/crew"
	"github.com/tenure-go/tenure/integration/internal/history"
	"github.com/tenure-go/tenure/integration/internal/register"
)

// bare is a scene in which there is nothing but a server of one address.
func bare() *Scene {
	return &Scene{TTL: time.Second, Server: &beds.Server{Addrs: []string{"127.0.0.1:1"}}}
}

func TestFaultsAreFound(t *testing.T) {
	all, err := Find(nil)
	if err != nil || len(all) != len(All()) {
		t.Errorf("%d faults, %v", len(all), err)
	}
	names := Names(all)
	if slices.Sort(names); len(slices.Compact(names)) != len(all) {
		t.Errorf("two faults have one name: %q", names)
	}
	if _, err := Find([]string{"kill", "rain"}); err == nil {
		t.Error("a fault that is not there was found")
	}
}

func TestWhatDoesNotFitIsLeftOut(t *testing.T) {
	n, unfit := New(bare(), All(), 1)
	want := []string{"kill", "kill-all", "stop-short", "stop-long", "partition", "replies-lost", "half-open", "refuse", "lag"}
	if got := n.Kinds(); !slices.Equal(got, want) {
		t.Errorf("the faults are %q, want %q", got, want)
	}
	if len(unfit) != len(All())-len(want) || unfit["wipe"] == "" || unfit["disk"] == "" {
		t.Errorf("left out are %q", unfit)
	}
}

// A leader that is to be stopped is stopped only when it has read what it is about to write.
func TestLeadersAreCaughtBetweenReadingAndWriting(t *testing.T) {
	s := bare()
	s.TTL = time.Hour
	var err error
	if s.Registers, err = register.Serve(false); err != nil {
		t.Fatal(err)
	}
	defer s.Registers.Close()
	h, err := history.Create(t.TempDir(), "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	leader := register.NewClient(s.Registers.Addr(), "a", h)
	defer leader.Close()
	if _, err := leader.Write("r", false, 1, 1); err != nil {
		t.Fatal(err)
	}
	read, over := s.Registers.Reads("a"), make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
				_, _, _ = leader.Read("r", false, 1)
			}
		}
	})
	s.catch(&crew.Candidate{Name: "a"})
	select {
	case <-read:
	default:
		t.Error("it was not waited until the leader had read")
	}
	close(over)
	reading.Wait()
}

// Each kind comes once before any comes again, in an order that the seed makes.
func TestOrderOfFaults(t *testing.T) {
	draw := func(seed uint64) (names []string) {
		n, _ := New(bare(), All(), seed)
		for range 2 * len(n.faults) {
			names = append(names, n.next().Name())
		}
		return names
	}
	one := draw(1)
	if !slices.Equal(one, draw(1)) {
		t.Error("a seed makes two orders")
	}
	if slices.Equal(one, draw(2)) {
		t.Error("two seeds make one order")
	}
	for _, half := range [][]string{one[:len(one)/2], one[len(one)/2:]} {
		slices.Sort(half)
		if len(slices.Compact(half)) != len(one)/2 {
			t.Errorf("a fault came twice before another came once: %q", half)
		}
	}
}
