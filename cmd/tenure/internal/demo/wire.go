package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// task is what a node is told: the first line on its standard input. What follows is nothing but an order to stop, or
// the end of the demo.
type task struct {
	Store    string        `json:"store"`
	Election string        `json:"election"`
	ID       string        `json:"id"`
	TTL      time.Duration `json:"ttl"`
	// Unsafe has the node remember that it leads instead of asking.
	Unsafe bool `json:"unsafe,omitempty"`
	// Remove is the directory that dies with the demo, if the demo cannot remove it itself.
	Remove string `json:"remove,omitempty"`
}

// stopOrder is the line that has a node stop in an orderly way.
const stopOrder = "stop"

// kind says what a node reports.
type kind string

const (
	reportUp       kind = "up"       // the node stands for election
	reportLead     kind = "lead"     // work begins under Token
	reportYes      kind = "yes"      // trusted with Token from From to To at least
	reportNo       kind = "no"       // trust in Token is over
	reportReturned kind = "returned" // work under Token has returned; Reason says why
	reportReleased kind = "released" // the seat of Token was given up
	reportOverran  kind = "overran"  // work under Token did not return in time
	reportFailed   kind = "failed"   // the store failed; Reason says how
	reportWoke     kind = "woke"     // the first answer after a while without one; Token is zero for a no
)

// report is a line on a node's standard output.
type report struct {
	Kind   kind          `json:"kind"`
	At     guard.Instant `json:"at,omitempty"`
	Token  uint64        `json:"token,omitempty"`
	From   guard.Instant `json:"from,omitempty"`
	To     guard.Instant `json:"to,omitempty"`
	Left   time.Duration `json:"left,omitempty"`
	Reason string        `json:"reason,omitempty"`
}

// reporter writes reports, each in one piece. Nobody reads on after an error, so errors need no answer: the end of
// standard input says that the demo is gone.
type reporter struct {
	mu  sync.Mutex
	out io.Writer
}

func (r *reporter) send(rep report) {
	line, err := json.Marshal(rep)
	if err != nil {
		panic(fmt.Sprintf("demo: a report cannot be written: %v", err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = r.out.Write(append(line, '\n'))
}
