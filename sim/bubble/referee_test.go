package bubble

import (
	"fmt"
	"sync"

	"github.com/tenure-go/tenure"
)

// referee judges what the nodes do by what they do, in true time. It asks the candidates no more than any user could,
// and reads none of their clocks.
type referee struct {
	nodes    []*node
	violated func(string)

	mu     sync.Mutex
	acts   map[*act]bool // under way
	newest uint64        // the highest token that was acted under
	by     *node         // whose term that is
	terms  int
}

// act is something that a node does because it leads: it begins when the API has said yes, and ends when the API wants
// it to have ended.
type act struct {
	node *node
	term tenure.Term
	by   string // what does it
}

// begin notes an act. An overlap of two acts begins when one of them does, so that is when it is looked for.
func (r *referee) begin(n *node, term tenure.Term, by string) *act {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case term.Token < r.newest:
		r.violated(fmt.Sprintf("S2: %s acts under token %d after %s did under %d", n.id, term.Token, r.by.id, r.newest))
	case term.Token == r.newest && n != r.by:
		r.violated(fmt.Sprintf("S2: %s acts under token %d, which is that of %s", n.id, term.Token, r.by.id))
	case term.Token > r.newest:
		r.newest, r.by = term.Token, n
		r.terms++
	}
	for other := range r.acts {
		if other.term.Token != term.Token {
			r.violated(fmt.Sprintf("S8: the %s of %s acts under token %d while the %s of %s does under %d, which is valid: %v",
				by, n.id, term.Token, other.by, other.node.id, other.term.Token, other.term.Valid()))
		}
	}
	a := &act{n, term, by}
	r.acts[a] = true
	r.countLeaders()
	return a
}

func (r *referee) end(a *act) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.acts, a)
}

// suspended forgets what a node was doing: it does nothing meanwhile, and what it was in the middle of when its machine
// stood still is for fencing tokens to refuse.
func (r *referee) suspended(n *node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for a := range r.acts {
		if a.node == n {
			delete(r.acts, a)
		}
	}
}

// idle reports whether a node does nothing.
func (r *referee) idle(n *node) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for a := range r.acts {
		if a.node == n {
			return false
		}
	}
	return true
}

// look checks that no two candidates say that they lead.
func (r *referee) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.countLeaders()
}

func (r *referee) countLeaders() {
	var leaders []string
	for _, n := range r.nodes {
		if !n.asleep.Load() && n.candidate.State() == tenure.StateLeader {
			leaders = append(leaders, n.id)
		}
	}
	if len(leaders) > 1 {
		r.violated(fmt.Sprintf("S1: %v say that they lead", leaders))
	}
}
