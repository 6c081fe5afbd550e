package probe

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tenure-go/tenure"
)

// swapChecks are the rules of compare-and-swap on which one leader at a time rests. Each returns what is wrong, empty
// if nothing.
var swapChecks = []struct {
	name  string
	check func(*Probe, context.Context) (wrong string, err error)
	fine  string
}{
	{"create", (*Probe).checkCreate, "a record that exists is not made a second time"},
	{"swap", (*Probe).checkSwap, "a swap from the current version is accepted, and its record read back whole"},
	{"stale-swap", (*Probe).checkStale, "a swap from a replaced version is refused"},
	{"version", (*Probe).checkVersion, "the version changes though the content does not"},
	{"shared", (*Probe).checkShared, "another connection sees what this one wrote"},
	{"race", (*Probe).checkRace, "of swaps at the same time one is accepted"},
}

// Swaps checks whether compare-and-swap is conditional. An error says that the checks could not be made.
func (p *Probe) Swaps(ctx context.Context) ([]Finding, error) {
	var findings []Finding
	for _, c := range swapChecks {
		if c.name == "shared" && p.Other == nil {
			continue
		}
		wrong, err := c.check(p, ctx)
		if err != nil {
			return findings, err
		}
		if wrong != "" {
			return append(findings, found(c.name, Failed, "%s", wrong)), nil
		}
		findings = append(findings, found(c.name, OK, "%s", c.fine))
	}
	return findings, nil
}

func (p *Probe) checkCreate(ctx context.Context) (string, error) {
	_, err := p.swap(ctx, p.Store, "", p.next())
	return p.refused(ctx, err, "a record was made over one that exists")
}

// refused judges a swap that must not have been accepted.
func (p *Probe) refused(ctx context.Context, err error, wrong string) (string, error) {
	switch {
	case err == nil:
		return wrong, nil
	case !errors.Is(err, tenure.ErrConflict):
		return "", err
	}
	now, err := p.load(ctx, p.Store)
	switch {
	case err != nil:
		return "", err
	case now.Version == p.now.Version:
		return "", nil
	case !p.own(now.Record):
		return "", ErrBusy
	}
	return "the swap was reported as refused, but the record changed", nil
}

func (p *Probe) checkSwap(ctx context.Context) (string, error) {
	if err := p.advance(ctx); err != nil {
		return "", err
	}
	now, err := p.load(ctx, p.Store)
	switch {
	case err != nil:
		return "", err
	case now.Version == p.now.Version && p.own(now.Record) && now.Record.Renewals == p.now.Record.Renewals:
		return "", nil
	case now.Version == p.now.Version && now.Record.Renewals == p.now.Record.Renewals:
		return "a field of the record that this version does not know was lost", nil
	case p.own(now.Record):
		return "an older record was read than the one that was written", nil
	}
	return "", ErrBusy
}

func (p *Probe) checkStale(ctx context.Context) (string, error) {
	stale := p.now.Version
	if err := p.advance(ctx); err != nil {
		return "", err
	}
	_, err := p.swap(ctx, p.Store, stale, p.next())
	return p.refused(ctx, err, "a swap from a version that was replaced was accepted: the condition is ignored")
}

func (p *Probe) checkVersion(ctx context.Context) (string, error) {
	before := p.now
	written, err := p.swap(ctx, p.Store, before.Version, before.Record)
	switch {
	case errors.Is(err, tenure.ErrConflict):
		return "", ErrBusy
	case err != nil:
		return "", err
	}
	p.now = written
	if written.Version == before.Version {
		return "the version stays if the content does: an old write could land again", nil
	}
	return "", nil
}

func (p *Probe) checkShared(ctx context.Context) (string, error) {
	now, err := p.load(ctx, p.Other)
	switch {
	case err != nil:
		return "", err
	case now.Version == p.now.Version:
		return "", nil
	case p.own(now.Record) || !now.Exists():
		return "another connection does not see what this one wrote", nil
	}
	return "", ErrBusy
}

// Sizes of the race.
const (
	rounds  = 10
	runners = 8
)

// checkRace lets both connections swap from one version at the same time.
func (p *Probe) checkRace(ctx context.Context) (string, error) {
	for range rounds {
		won, err := p.race(ctx)
		if err != nil {
			return "", err
		}
		if len(won) != 1 {
			return fmt.Sprintf("of %d swaps from one version at the same time %d were accepted", runners, len(won)), nil
		}
		p.now = won[0]
	}
	return "", nil
}

// race returns what was accepted.
func (p *Probe) race(ctx context.Context) (won []tenure.Snapshot, failure error) {
	stores := []tenure.Store{p.Store, p.Other}
	if p.Other == nil {
		stores = stores[:1]
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range runners {
		all.Go(func() {
			written, err := p.swap(ctx, stores[i%len(stores)], p.now.Version, p.next())
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won = append(won, written)
			case !errors.Is(err, tenure.ErrConflict):
				failure = err
			}
		})
	}
	all.Wait()
	if failure == nil && len(won) == 0 {
		return nil, p.lostRace(ctx)
	}
	return won, failure
}

// lostRace tells a race that nobody won because a stranger was faster from one that the store let nobody win.
func (p *Probe) lostRace(ctx context.Context) error {
	now, err := p.load(ctx, p.Store)
	if err != nil {
		return err
	}
	if now.Version != p.now.Version && !p.own(now.Record) {
		return ErrBusy
	}
	return nil
}
