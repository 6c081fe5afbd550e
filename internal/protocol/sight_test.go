package protocol

import (
	"testing"
	"time"
)

func held(version string, token, renewals uint64) Snapshot {
	return Snapshot{Version: version, Record: Record{
		Token: token, Renewals: renewals, Leader: "a", Session: "s", TTL: storyTTL,
	}}
}

// Snapshots are ordered by their content, whatever way and in whatever order they came.
func TestSightOrdersSnapshots(t *testing.T) {
	requested := held("v3", 5, 10)
	requested.Record.Request = Request{Token: 5}
	vacant := Snapshot{Version: "v4", Record: Record{Token: 5, Renewals: 11, TTL: storyTTL}}
	other := held("x", 5, 10)
	other.Record.Session = "another"
	for _, test := range []struct {
		name string
		snap Snapshot
		want verdict
	}{
		{"the same again", held("v2", 5, 10), same},
		{"a request was added", requested, same},
		{"a renewal", held("v3", 5, 11), newer},
		{"vacated", vacant, newer},
		{"the next term", held("v3", 6, 1), newer},
		{"an older renewal", held("v1", 5, 9), lower},
		{"an older term", held("v1", 4, 99), lower},
		{"missing", Snapshot{}, lower},
		{"missing, under a floor that any election may have raised", Snapshot{Record: Record{Token: 9}}, lower},
		{"another session under the same token", other, lower},
		{"a version that a conflict has disproved", held("v0", 7, 1), stale},
	} {
		s := sight{}
		if v := s.observe(0, held("v2", 5, 10), false); v != newer {
			t.Errorf("first sight is %v", v)
		}
		s.conflicted(identity{version: "v0"})
		if got := s.observe(time.Second, test.snap, false); got != test.want {
			t.Errorf("%s: verdict %v, want %v", test.name, got, test.want)
		}
	}
}

// A request changes the version but must not keep a dead leader's seat taken; a renewal starts the count anew.
func TestSightCountsFromTheFirstSightOfAMark(t *testing.T) {
	b, s := testConfig("b"), sight{}
	s.observe(time.Second, held("v1", 5, 10), false)
	s.observe(4*time.Second, held("v2", 5, 10), false)
	if o := s.opening(&b); o.at != time.Second+b.Wait(storyTTL) || o.base.Version != "v2" {
		t.Errorf("opening %+v", o)
	}
	s.observe(5*time.Second, held("v3", 5, 11), false)
	if o := s.opening(&b); o.at != 5*time.Second+b.Wait(storyTTL) {
		t.Errorf("opening %+v", o)
	}
}

// A store that went back counts as held for the longest lease seen (S13); a stale read delays nothing.
func TestSightKeepsAGapBesideTheNewest(t *testing.T) {
	b, s := testConfig("b"), sight{}
	long := held("v1", 4, 1)
	long.Record.TTL = 3 * storyTTL
	s.observe(0, long, false)
	s.observe(time.Second, held("v2", 5, 1), false)
	s.observe(2*time.Second, Snapshot{}, false)
	if o := s.opening(&b); o.at != time.Second+b.Wait(storyTTL) || o.base.Version != "v2" {
		t.Errorf("with a missing record after one that is held: %+v", o)
	}
	s.conflicted(identity{version: "v2"})
	if o := s.opening(&b); o.at != 2*time.Second+b.Wait(3*storyTTL) || o.base.Exists() {
		t.Errorf("once the newest is known to be gone: %+v", o)
	}
	s.observe(3*time.Second, held("v3", 5, 2), false)
	if o := s.opening(&b); o.at != 3*time.Second+b.Wait(storyTTL) || s.hasGap {
		t.Errorf("once the history goes on: %+v", o)
	}
}

// A store that lost a bid may show one term of a token after the other. The longest TTL of all of them counts, since
// each of their leaders may still count by its own.
func TestSightKeepsTheLongestTTLOfAToken(t *testing.T) {
	b, s := testConfig("b"), sight{}
	long, other, edited := held("v1", 5, 1), held("v2", 5, 2), held("v3", 5, 3)
	long.Record.TTL = 3 * storyTTL
	other.Record.Session = "other"
	for i, snap := range []Snapshot{long, other, edited} {
		s.observe(time.Duration(i)*time.Second, snap, false)
	}
	if o := s.opening(&b); o.at != 2*time.Second+b.Wait(3*storyTTL) {
		t.Errorf("open after %v", o.at)
	}
	s.observe(3*time.Second, held("v4", 6, 1), false)
	if o := s.opening(&b); o.at != 3*time.Second+b.Wait(storyTTL) {
		t.Errorf("the next token is open after %v", o.at)
	}
}

// Old states that reads show in turn are no insistence: one state has to be shown three times in a row.
func TestSightIsInsistedUponByOneState(t *testing.T) {
	s := sight{}
	for i, look := range []struct {
		version string
		insists bool
	}{{"v2", false}, {"v2", false}, {"v1", false}, {"v2", false}, {"v1", false}, {"v1", false}, {"v1", true}} {
		if got := s.insists(look.version); got != look.insists {
			t.Errorf("look %d at %s: %v", i, look.version, got)
		}
	}
}

// A record that is missing under another floor than a bid expected was not proved to be there by the conflict.
func TestSightTellsAbsencesByTheirFloor(t *testing.T) {
	s := sight{}
	missing := func(floor uint64) Snapshot { return Snapshot{Record: Record{Token: floor}} }
	s.observe(0, missing(1), false)
	s.observe(time.Second, missing(3), true)
	s.conflicted(missing(1).identity())
	if v := s.observe(2*time.Second, missing(3), false); v != same || s.gone() {
		t.Errorf("the absence that was not written over: verdict %v, gone: %v", v, s.gone())
	}
	s.conflicted(missing(3).identity())
	if v := s.observe(3*time.Second, missing(3), false); v != stale || !s.gone() {
		t.Errorf("the absence that was: verdict %v, gone: %v", v, s.gone())
	}
}

// A vacant record bears no session. One that comes back after a gap under another version may have been written over
// what was lost, and ends no wait (S13); the very one that was seen before does.
func TestSightHoldsAVacancyThatCameBack(t *testing.T) {
	vacant := Snapshot{Version: "v1", Record: Record{Token: 5, Renewals: 1, TTL: storyTTL}}
	back := vacant
	back.Version = "v2"
	for _, test := range []struct {
		snap Snapshot
		want verdict
	}{{vacant, same}, {back, lower}} {
		s := sight{}
		s.observe(0, vacant, false)
		s.observe(time.Second, Snapshot{}, false)
		if got := s.observe(2*time.Second, test.snap, false); got != test.want {
			t.Errorf("version %s: verdict %v, want %v", test.snap.Version, got, test.want)
		}
	}
}
