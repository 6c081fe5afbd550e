//go:build linux

package nemesis

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tenure-go/tenure/integration/internal/beds"
	"github.com/tenure-go/tenure/integration/internal/crew"
	"github.com/tenure-go/tenure/integration/internal/history"
	"github.com/tenure-go/tenure/integration/internal/register"
)

// Scene is what faults befall.
type Scene struct {
	TTL        time.Duration
	Server     *beds.Server
	Candidates []*crew.Candidate
	Registers  *register.Server
	// Answers returns nil if the store answers the nemesis within a time. It comes to it without a proxy, and with the
	// rights that candidates have.
	Answers func(within time.Duration) error
	// Shared is why no candidate has a network of its own, nil if some have.
	Shared error
	// Disk is the file system on which the server keeps its files, nil if it cannot be made to hang.
	Disk    *Disk
	History *history.Writer
	Log     io.Writer
	// Wiping has the store be wiped, which is no fault that any grade excuses.
	Wiping bool
}

// leader returns the name of who has changed a register lately, empty if nobody has.
func (s *Scene) leader() string {
	last, _ := s.Registers.Last()
	if time.Since(last.At) > s.TTL {
		return ""
	}
	return last.Process
}

// catch waits, if a candidate leads, until it has read what it is about to write: stopped then, it comes too late with
// that, and only its token can stop it.
func (s *Scene) catch(c *crew.Candidate) {
	const (
		reads    = 500 * time.Millisecond // several times what a leader takes from one read to the next
		answered = 3 * time.Millisecond   // less than it takes from the answer to the write
	)
	if s.leader() != c.Name {
		return
	}
	select {
	case <-s.Registers.Reads(c.Name):
		time.Sleep(answered)
	case <-time.After(reads):
	}
}

// draw picks a candidate that runs, fits and is not taken: the leader more often than not. It is nil if there is none.
func (s *Scene) draw(r *rand.Rand, taken []string, fits func(*crew.Candidate) bool) *crew.Candidate {
	var all []*crew.Candidate
	for _, c := range s.Candidates {
		if c.PID() != 0 && !slices.Contains(taken, c.Name) && (fits == nil || fits(c)) {
			all = append(all, c)
		}
	}
	preferLeader, pick := r.Float64() < 0.7, r.IntN(len(s.Candidates)) // the same draws whatever they come to
	if len(all) == 0 {
		return nil
	}
	if i := slices.IndexFunc(all, func(c *crew.Candidate) bool { return c.Name == s.leader() }); i >= 0 && preferLeader {
		return all[i]
	}
	return all[pick%len(all)]
}

// library and supervised tell kinds of candidates apart.
func library(c *crew.Candidate) bool { return !c.Supervised }

// any candidate there is that fits.
func (s *Scene) has(fits func(*crew.Candidate) bool) bool {
	return slices.ContainsFunc(s.Candidates, fits)
}

func (s *Scene) logf(format string, args ...any) { fmt.Fprintf(s.Log, format+"\n", args...) }
