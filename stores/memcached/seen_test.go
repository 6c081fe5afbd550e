package memcached

import (
	"testing"

	"github.com/tenure-go/tenure"
)

func TestSightings(t *testing.T) {
	at := func(token, renewals uint64) tenure.Snapshot {
		return tenure.Snapshot{Version: "v", Record: tenure.Record{Token: token, Renewals: renewals}}
	}
	for name, test := range map[string]struct {
		before, after tenure.Snapshot
		overtaken     bool
		lost          uint64
	}{
		"never there":              {tenure.Snapshot{}, tenure.Snapshot{}, false, 0},
		"renewed":                  {at(3, 1), at(3, 2), false, 0},
		"the same":                 {at(3, 1), at(3, 1), false, 0},
		"next term":                {at(3, 9), at(4, 0), false, 0},
		"gone":                     {at(3, 1), tenure.Snapshot{}, false, 1},
		"replaced":                 {at(3, 1), at(1, 1), false, 1},
		"gone back":                {at(3, 2), at(3, 1), false, 1},
		"gone, but older":          {at(3, 1), tenure.Snapshot{}, true, 0},
		"gone back, but older":     {at(3, 2), at(3, 1), true, 0},
		"overtaken by what it was": {at(3, 2), at(3, 3), true, 0},
	} {
		s := newSeen(nil)
		early := s.now()
		s.see("e", s.now(), test.before)
		since := early
		if !test.overtaken {
			since = s.now()
		}
		found := s.see("e", since, test.after)
		if s.lost() != test.lost {
			t.Errorf("%s: %d losses", name, s.lost())
		}
		if !found.Exists() && found.Record.Token != test.before.Record.Token {
			t.Errorf("%s: floor %d", name, found.Record.Token)
		}
	}
}
