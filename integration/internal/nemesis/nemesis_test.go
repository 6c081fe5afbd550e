//go:build linux

package nemesis

import (
	"slices"
	"testing"
	"time"

	"github.com/tenure-go/tenure/integration/internal/beds"
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
