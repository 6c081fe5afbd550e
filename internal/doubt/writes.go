package doubt

import (
	"slices"
	"sync"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/certainty"
)

// Writes are those of one store that are under way or in doubt. The zero Writes has none. Its methods are safe for
// concurrent use.
type Writes struct {
	mu  sync.Mutex
	all map[string][]*Write // by election
}

// Write is one. Once there is another version than the one that it replaces, it was made or never will be.
type Write struct {
	old   tenure.Version
	ended bool // the call has returned without an answer
}

// Begin notes a write before it is sent.
func (d *Writes) Begin(election string, old tenure.Version) *Write {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil {
		d.all = map[string][]*Write{}
	}
	w := &Write{old: old}
	d.all[election] = append(d.all[election], w)
	return w
}

// End takes in what became of a write, as [tenure.Store] says it. One that was acknowledged has everything before it
// where acknowledged writes are.
func (d *Writes) End(election string, w *Write, err error) {
	if err != nil && !certainty.NotWritten(err) {
		d.remain(election, w)
		return
	}
	d.drop(election, func(other *Write) bool { return err == nil || other == w })
}

// remain keeps a write that ended without an answer, one for all that replace the same version.
func (d *Writes) remain(election string, w *Write) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if all := d.all[election]; slices.Contains(all, w) {
		w.ended = true
		d.all[election] = slices.DeleteFunc(all, func(o *Write) bool { return o != w && o.ended && o.old == w.old })
	}
}

// Settle takes in a version that is where acknowledged writes are.
func (d *Writes) Settle(election string, version tenure.Version) {
	d.drop(election, func(w *Write) bool { return w.old != version })
}

func (d *Writes) drop(election string, which func(*Write) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all[election] = slices.DeleteFunc(d.all[election], which); len(d.all[election]) == 0 {
		delete(d.all, election)
	}
}

// About reports whether there are any about an election that have ended in doubt, or are under way. Those under way
// concern only who looks at the same time.
func (d *Writes) About(election string, underWay bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.all[election], func(w *Write) bool { return underWay || w.ended })
}
