package kubernetes

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/tenure-go/tenure"
)

// What client-go reads in the spec of each kind of record.
func TestSpecAsClientGoReadsIt(t *testing.T) {
	at := time.Date(2026, time.March, 1, 14, 0, 0, int(123*time.Millisecond), time.UTC)
	held := tenure.Record{Token: 7, Leader: "web", Session: "S", TTL: 10 * time.Second, ElectedAt: at, RenewedAt: at}
	for name, c := range map[string]struct {
		record      tenure.Record
		holder      string
		seconds     int
		transitions int
	}{
		"held":             {held, "web_S", 10, 6},
		"rounded up":       {with(held, func(r *tenure.Record) { r.TTL += time.Millisecond }), "web_S", 11, 6},
		"under a second":   {with(held, func(r *tenure.Record) { r.TTL = 200 * time.Millisecond }), "web_S", 1, 6},
		"pause is asked":   {with(held, func(r *tenure.Record) { r.Pause = &tenure.Pause{} }), "web_S", 10, 6},
		"first":            {with(held, func(r *tenure.Record) { r.Token = 1 }), "web_S", 10, 0},
		"largest token":    {with(held, func(r *tenure.Record) { r.Token = tenure.MaxToken }), "web_S", 10, 1<<31 - 1},
		"vacant":           {tenure.Record{Token: 7, TTL: 10 * time.Second}, "", 1, 6},
		"never led":        {tenure.Record{}, "", 1, 0},
		"kept":             {tenure.Record{Token: 7, TTL: 10 * time.Second, Reserved: "b"}, "tenure: kept for b", 10, 6},
		"paused":           {tenure.Record{Token: 7, Pause: &tenure.Pause{}}, "tenure: paused", 1<<31 - 1, 6},
		"an elector's own": {with(held, func(r *tenure.Record) { r.Session = foreignSession + "7" }), "web", 10, 6},
	} {
		spec := specOf(c.record)
		got := resourcelock.LeaseSpecToLeaderElectionRecord(&spec)
		if got.HolderIdentity != c.holder || got.LeaseDurationSeconds != c.seconds || got.LeaderTransitions != c.transitions {
			t.Errorf("%s: client-go reads %+v, want %q for %d s, %d transitions", name, got, c.holder, c.seconds, c.transitions)
		}
	}
}

func with(r tenure.Record, change func(*tenure.Record)) tenure.Record {
	change(&r)
	return r
}

// An elector counts from the last change that it sees: each renewal is one, even by a clock that stands still, or that
// does not tell the time at all; a request is none.
func TestEveryRenewalIsSeenByElectors(t *testing.T) {
	r := tenure.Record{Token: 7, Leader: "web", Session: "S", TTL: time.Minute, Renewals: 999}
	for _, at := range []time.Time{{}, time.Now()} {
		r.RenewedAt = at
		before := sealOf(specOf(r))
		if after := sealOf(specOf(with(r, func(r *tenure.Record) { r.Renewals++ }))); after == before {
			t.Errorf("renewed at %v, with the same spec %+v", at, after)
		}
		asked := with(r, func(r *tenure.Record) { r.Request = &tenure.Request{Token: 7} })
		if after := sealOf(specOf(asked)); after != before {
			t.Errorf("a request has changed the spec from %+v to %+v", before, after)
		}
	}
}

// lease7 is one that a candidate has written for token 7, and then client-go, if change does anything.
func lease7(t *testing.T, change func(*coordinationv1.LeaseSpec)) *coordinationv1.Lease {
	t.Helper()
	r := storedHeld()
	l := &coordinationv1.Lease{Spec: specOf(r)}
	l.Name, l.ResourceVersion = "a", "1000"
	if err := annotate(l, content{Election: "a", Record: &r, Spec: sealOf(l.Spec)}); err != nil {
		t.Fatal(err)
	}
	change(&l.Spec)
	return l
}

func storedHeld() tenure.Record {
	return tenure.Record{
		Token: 7, Leader: "web", Session: "S", TTL: 10 * time.Second, Renewals: 3, Address: "here:1",
		Metadata: map[string]string{"a": "b"}, Request: &tenure.Request{Token: 7}, Pause: &tenure.Pause{By: "ops"},
	}
}

func elected(holder string, transitions int32) func(*coordinationv1.LeaseSpec) {
	return func(spec *coordinationv1.LeaseSpec) {
		seconds := int32(15)
		spec.HolderIdentity, spec.LeaseTransitions, spec.LeaseDurationSeconds = &holder, &transitions, &seconds
		spec.RenewTime = microTime(time.Now())
	}
}

// What an elector has made of a Lease is a term of its own, above what was there.
func TestElectorsTermIsTranslated(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*coordinationv1.LeaseSpec)
		leader string
		token  uint64
	}{
		"untouched":                     {func(*coordinationv1.LeaseSpec) {}, "web", 7},
		"taken over":                    {elected("pod", 7), "pod", 8},
		"taken over twice":              {elected("pod", 8), "pod", 9},
		"taken over without a count":    {elected("pod", 6), "pod", 8},
		"taken over with a lower count": {elected("pod", 0), "pod", 8},
		"released":                      {elected("", 7), "", 8},
		"released without a count":      {elected("", 6), "", 8},
		"renewed by its own name":       {elected("web_S", 6), "web_S", 8},
	} {
		got, err := recordOf(lease7(t, c.change), 0)
		if err != nil || got.Leader != c.leader || got.Token != c.token {
			t.Errorf("%s: %+v, %v; want %q with the token %d", name, got, err, c.leader, c.token)
		}
		if name == "untouched" {
			continue
		}
		if got.Request != nil || got.Address != "" || got.Metadata != nil || got.Pause == nil || got.Session == "S" {
			t.Errorf("%s: %+v keeps what was the candidate's, or not the pause", name, got)
		}
		if got.Renewals != 1000 || got.Leader != "" && got.TTL != 15*time.Second {
			t.Errorf("%s: %+v is not counted by the resource version and the elector's lease", name, got)
		}
	}
}

// Without an annotation the count of transitions is all that there is, and the floor.
func TestLeaseOfElectorsAlone(t *testing.T) {
	for _, c := range []struct{ transitions, floor, token uint64 }{{0, 0, 1}, {37, 0, 38}, {37, 50, 51}} {
		l := &coordinationv1.Lease{}
		l.Name, l.ResourceVersion = "a", "1000"
		elected("pod", int32(c.transitions))(&l.Spec)
		got, err := recordOf(l, c.floor)
		if err != nil || got.Token != c.token || got.Leader != "pod" {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}

// What cannot be counted on is refused, and says why.
func TestUnreadableLease(t *testing.T) {
	for want, change := range map[string]func(*coordinationv1.Lease){
		"leaseDurationSeconds of 0":     func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds = nil },
		"leaseDurationSeconds of 86401": func(l *coordinationv1.Lease) { *l.Spec.LeaseDurationSeconds = 86401 },
		"coordinated election": func(l *coordinationv1.Lease) {
			strategy := coordinationv1.OldestEmulationVersion
			l.Spec.Strategy, l.Spec.RenewTime = &strategy, nil
		},
		"no number":                func(l *coordinationv1.Lease) { l.ResourceVersion, l.Spec.RenewTime = "abc", nil },
		"election \"b\"":           annotated(`{"tenure_lease":1,"election":"b","record":{"tenure":1,"token":7}}`),
		"damaged or foreign":       annotated(`{}`),
		"upgrade tenure":           annotated(`{"tenure_lease":2}`),
		"not an election's record": annotated(`{"tenure_lease":1,"record":{}}`),
	} {
		l := lease7(t, func(*coordinationv1.LeaseSpec) {})
		change(l)
		_, err := snapshotOf(l, 0)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, have %v", want, err)
		}
	}
}

func annotated(text string) func(*coordinationv1.Lease) {
	return func(l *coordinationv1.Lease) { l.Annotations[annotation] = text }
}
