//go:build linux

package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenure-go/tenure/integration/internal/history"
)

const (
	// slack is what a recovery may take beyond leases and polls: clients notice that a connection is dead, and make new
	// ones.
	slack = 8 * time.Second
	// answersWithin bounds how long a store may take to answer when all faults are undone.
	answersWithin = 60 * time.Second
	// rest is how many TTLs nothing is done before each kind comes again.
	rest = 4
	// together is the share of attacks that are two at once.
	together = 0.3
)

// Bound is within which time somebody has to lead once everything is well.
func Bound(ttl time.Duration) time.Duration { return 2*ttl + slack }

// Cycle is about how long a fault takes, with the quiet before it and the recovery after it.
func Cycle(ttl time.Duration) time.Duration { return 4 * ttl }

// Nemesis draws faults and brings them about.
type Nemesis struct {
	scene  *Scene
	random *rand.Rand
	faults []Fault
	bag    []Fault // what comes before anything comes again
	number int
}

// New returns a nemesis for the faults that fit the scene; the others and why they do not are in unfit.
func New(s *Scene, faults []Fault, seed uint64) (n *Nemesis, unfit map[string]string) {
	n, unfit = &Nemesis{scene: s, random: rand.New(rand.NewPCG(seed, 7))}, map[string]string{}
	for _, f := range faults {
		if why := f.Unfit(s); why != "" {
			unfit[f.Name()] = why
			continue
		}
		n.faults = append(n.faults, f)
	}
	return n, unfit
}

// Kinds returns the names of the faults that it draws from.
func (n *Nemesis) Kinds() []string { return Names(n.faults) }

// Await waits for the first leader.
func (n *Nemesis) Await(ctx context.Context) error {
	if !n.led(ctx, time.Now(), time.Minute) {
		return errors.New("nobody has led for a minute, although nothing is wrong")
	}
	return nil
}

// Rage brings faults about until the time is over or ctx ends. All are undone when it returns.
func (n *Nemesis) Rage(ctx context.Context, lasts time.Duration) error {
	end := time.Now().Add(lasts)
	for ctx.Err() == nil && time.Now().Before(end) {
		if len(n.bag) == 0 {
			sleep(ctx, rest*n.scene.TTL) // what it costs when nothing is wrong has to be seen too
		}
		if !sleep(ctx, between(n.random, n.scene.TTL/4, n.scene.TTL)) {
			break
		}
		if err := n.once(ctx); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("interrupted: %w", err)
	}
	return nil
}

// once attacks, heals, and waits for a leader.
func (n *Nemesis) once(ctx context.Context) error {
	attacks := n.plan()
	var under sync.WaitGroup
	errs := make([]error, len(attacks))
	for i, a := range attacks {
		delay := between(n.random, 0, n.scene.TTL/2)
		under.Go(func() {
			if i > 0 {
				sleep(ctx, delay)
			}
			errs[i] = n.attack(ctx, a)
		})
	}
	under.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return n.recover(ctx)
}

// planned is an attack with its number.
type planned struct {
	*Attack

	number int
}

// plan draws one attack or two.
func (n *Nemesis) plan() (all []planned) {
	wanted := 1
	if n.random.Float64() < together {
		wanted = 2
	}
	var taken []string
	for range 4 * len(n.faults) { // some have no target at a given moment
		f := n.next()
		a := f.Plan(n.scene, n.random, taken)
		if a == nil {
			n.bag = append(n.bag, f)
			continue
		}
		n.number++
		a.Kind, a.Number = f.Name(), n.number
		taken = append(taken, a.Targets...)
		for _, c := range n.scene.Candidates {
			if slices.Contains(a.Targets, target(c)) || slices.Contains(a.Targets, c.Name) {
				taken = append(taken, c.Name) // whatever part of it is struck
			}
		}
		if all = append(all, planned{a, a.Number}); len(all) == wanted {
			break
		}
	}
	return all
}

// next takes a fault out of the bag, which is filled again when it is empty.
func (n *Nemesis) next() Fault {
	if len(n.bag) == 0 {
		n.bag = slices.Clone(n.faults)
		n.random.Shuffle(len(n.bag), func(i, j int) { n.bag[i], n.bag[j] = n.bag[j], n.bag[i] })
	}
	f := n.bag[0]
	n.bag = n.bag[1:]
	return f
}

// attack brings one fault about, lets it last, and undoes it.
func (n *Nemesis) attack(ctx context.Context, a planned) error {
	s := n.scene
	if err := s.History.Write(history.Event{Fault: &a.Fault}); err != nil {
		return err
	}
	s.logf("fault %d: %s of %s for %v %v", a.number, a.Kind, strings.Join(a.Targets, ", "), a.Hold.Round(time.Millisecond),
		text(a.Parameters))
	undone := &history.Undone{Number: a.number}
	err := a.Begin()
	if err == nil {
		undone.From = history.Now()
		sleep(ctx, a.Hold)
		undone.To = history.Now()
		if a.Moment {
			undone.To = undone.From
		}
	}
	// What has failed halfway has to be undone too, except where there is nothing to undo.
	effect, ending := "", error(nil)
	if err == nil || a.Moment {
		effect, ending = a.End()
	}
	undone.Effect = effect
	if err = errors.Join(err, ending); err != nil {
		undone.Error = err.Error()
		s.logf("fault %d: %v", a.number, err)
	}
	return s.History.Write(history.Event{Undone: undone})
}

func text(parameters map[string]string) string {
	var all []string
	for name, value := range parameters {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// recover waits until the store answers, and then until somebody leads.
func (n *Nemesis) recover(ctx context.Context) error {
	s := n.scene
	for end := time.Now().Add(answersWithin); ; {
		err := s.Answers(2 * time.Second)
		if err == nil {
			break
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return fmt.Errorf("the store does not answer %v after all faults were undone: %w", answersWithin, err)
		}
		sleep(ctx, 50*time.Millisecond)
	}
	bound := Bound(s.TTL)
	if err := s.History.Write(history.Event{Healed: &history.Healed{Bound: bound}}); err != nil {
		return err
	}
	healed := time.Now()
	led := n.led(ctx, healed, bound+2*time.Second)
	took := time.Since(healed).Round(time.Millisecond)
	switch {
	case led:
		s.logf("  somebody leads after %v", took)
	case ctx.Err() == nil: // nobody leads, or under tokens that have fallen
		s.logf("  NOBODY'S WORK IS ACCEPTED after %v", took)
	}
	return nil
}

// led waits until a register was changed after a moment.
func (n *Nemesis) led(ctx context.Context, since time.Time, within time.Duration) bool {
	over := time.After(within)
	for {
		last, moved := n.scene.Registers.Last()
		if last.At.After(since) {
			return true
		}
		select {
		case <-moved:
		case <-over:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// sleep reports whether ctx has not ended meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
