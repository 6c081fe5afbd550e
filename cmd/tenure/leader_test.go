package main

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/file"
)

// testTTL is that of terms which end only when somebody wants them to, however busy the machine is.
const testTTL = time.Minute

// place is a file store that candidates of the test process and calls of the command share.
type place struct {
	store *file.Store
	flag  string // that names it
}

func newPlace(t *testing.T) place {
	t.Helper()
	dir := t.TempDir()
	store, err := file.Open(dir)
	if err != nil {
		t.Skipf("the file store does not work here: %v", err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return place{store, "--store=file:" + dir}
}

// stand makes a candidate stand for the rest of the test.
func (p place) stand(t *testing.T, election, id string, options ...tenure.Option) *tenure.Candidate {
	t.Helper()
	c, err := tenure.New(p.store, election, append([]tenure.Option{
		tenure.WithID(id), tenure.WithTTL(testTTL), tenure.WithDrain(10 * time.Millisecond), tenure.WithPollInterval(100 * time.Millisecond),
	}, options...)...)
	if err == nil {
		err = c.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(t.Context()) })
	return c
}

// lead makes a candidate stand and waits until it leads.
func (p place) lead(t *testing.T, election, id string, options ...tenure.Option) *tenure.Candidate {
	t.Helper()
	c := p.stand(t, election, id, options...)
	must(t, p.flag, "wait", election, "--timeout", "30s")
	return c
}

func (p place) load(t *testing.T, election string) tenure.Record {
	t.Helper()
	now, err := p.store.Load(t.Context(), election)
	if err != nil {
		t.Fatal(err)
	}
	return now.Record
}
