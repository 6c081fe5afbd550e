//go:build linux

package nemesis

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/integration/internal/beds"
	"github.com/tenure-go/tenure/integration/internal/crew"
	"github.com/tenure-go/tenure/integration/internal/network"
)

// joint is a cut of two candidates that does not touch any network; done is what it has done. The second one cannot be
// begun if that is why.
func joint(why error) (c *cut, done *[]string) {
	done = &[]string{}
	number := 0
	return &cut{
		struck: []*crew.Candidate{{Name: "a", Line: &beds.Line{}}, {Name: "b", Line: &beds.Line{}}},
		how: func(*network.Network) (undo, error) {
			if number++; number == 2 && why != nil {
				return nil, why
			}
			*done = append(*done, "begun")
			return func() (string, error) { *done = append(*done, "undone"); return "seen", nil }, nil
		},
	}, done
}

func TestCablesAreCutTogether(t *testing.T) {
	c, done := joint(nil)
	if err := c.begin(); err != nil {
		t.Fatal(err)
	}
	effect, err := c.end()
	if want := "a: seen; b: seen"; effect != want || err != nil {
		t.Errorf("it ended with %q, %v, want %q", effect, err, want)
	}
	if want := []string{"begun", "begun", "undone", "undone"}; !slices.Equal(*done, want) {
		t.Errorf("done was %q, want %q", *done, want)
	}
}

func TestCutThatBeginsHalfwayIsUndone(t *testing.T) {
	why := errors.New("worn out")
	c, done := joint(why)
	if err := c.begin(); !errors.Is(err, why) {
		t.Errorf("it began with %v", err)
	}
	if want := []string{"begun", "undone"}; !slices.Equal(*done, want) {
		t.Errorf("done was %q, want %q", *done, want)
	}
}

// Where no network can be made it is said why, and where there is no network to the store that is all that is said.
func TestWhyNoCableCanBeCut(t *testing.T) {
	s := bare()
	s.Shared = errors.New("not permitted")
	if why := (drop{}).Unfit(s); !strings.Contains(why, "not permitted") {
		t.Errorf("it is left out since %q", why)
	}
	s.Server = &beds.Server{}
	if why := (unplug{}).Unfit(s); why != unreached(s) {
		t.Errorf("without a network it is left out since %q", why)
	}
	s = bare()
	s.Candidates = []*crew.Candidate{{Line: &beds.Line{Network: &network.Network{}}}}
	if why := (drop{}).Unfit(s); why != "" {
		t.Errorf("it is left out although it fits: %q", why)
	}
}
