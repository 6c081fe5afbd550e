package probe

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure"
)

// ErrBusy says that somebody else changed the election of the probe, so that nothing can be concluded.
var ErrBusy = errors.New("somebody else probes this store at the moment: try again")

// Probe examines one store.
type Probe struct {
	// Store is the one that is examined, and Other a second connection to it, nil if there can be none.
	Store, Other tenure.Store
	// Election is the name that the probe writes to. Its record stays as that of a forgotten election.
	Election string
	// Timeout bounds each call.
	Timeout time.Duration

	nonce string
	now   tenure.Snapshot // as the probe wrote it last
}

// field is the field of the record by which a probe knows its own writes. No version of the library knows it, so it
// shows as well whether unknown fields survive.
const field = "doctor"

// Begin makes the record of the probe.
func (p *Probe) Begin(ctx context.Context) error {
	p.nonce = rand.Text()
	now, err := p.load(ctx, p.Store)
	if err != nil {
		return err
	}
	if !now.Record.Vacant() {
		return fmt.Errorf("the election %q is in use, but the probe needs it: resign its leader and forget it", p.Election)
	}
	p.now = now
	p.now, err = p.swap(ctx, p.Store, now.Version, p.next())
	if errors.Is(err, tenure.ErrConflict) {
		return ErrBusy
	}
	return err
}

// End has the store forget the election. It is to be called even if ctx has ended.
func (p *Probe) End(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.Timeout)
	defer cancel()
	return tenure.Forget(ctx, p.Store, p.Election)
}

// next returns the record of the next write.
func (p *Probe) next() tenure.Record {
	text, _ := json.Marshal(p.nonce) // a string
	return tenure.Record{
		Token: p.now.Record.Token, Renewals: p.now.Record.Renewals + 1,
		Extra: map[string]json.RawMessage{field: text},
	}
}

// own reports whether a record was written by this probe.
func (p *Probe) own(r tenure.Record) bool {
	var nonce string
	return json.Unmarshal(r.Extra[field], &nonce) == nil && nonce == p.nonce
}

func (p *Probe) load(ctx context.Context, store tenure.Store) (tenure.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	return store.Load(ctx, p.Election)
}

func (p *Probe) swap(
	ctx context.Context, store tenure.Store, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	return store.CompareAndSwap(ctx, p.Election, old, record)
}

// advance writes the next record, as a leader that renews does.
func (p *Probe) advance(ctx context.Context) error {
	written, err := p.swap(ctx, p.Store, p.now.Version, p.next())
	if errors.Is(err, tenure.ErrConflict) {
		return ErrBusy
	}
	if err == nil {
		p.now = written
	}
	return err
}
