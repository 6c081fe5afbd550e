package dualleader

import (
	"math"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// over is ours over stores in memory, with no network and no server of the harness.
func over(name string, open func(*Node, *memory.Store) tenure.Store) *Peer {
	p := Tenure()
	p.Name = name
	p.Serve = func(*Clock) Server {
		store := memory.New()
		return &tenureServer{
			register: newRegister[tenure.Record](), open: func(n *Node) tenure.Store { return open(n, store) },
		}
	}
	return p
}

// A library is measured, and not what the harness has to carry its calls and pushes: the simulated server in the place
// of the store in memory, which is measured with its records and watches, makes a difference of a third at most, and
// none in goroutines. What the harness keeps besides, a whole library's worth of it, makes none either.
func TestSizeIsWithoutTheHarness(t *testing.T) {
	const n = 300
	direct := measureSize(t, over("memory", func(_ *Node, s *memory.Store) tenure.Store { return s }), n)
	kept := map[*Node][]byte{}
	heavy := over("memory, and a harness that keeps much", func(n *Node, s *memory.Store) tenure.Store {
		kept[n] = make([]byte, 16<<10)
		return s
	})
	for _, p := range []*Peer{Tenure(), heavy} {
		size := measureSize(t, p, n)
		t.Logf("over memory %.0f bytes, with %s %.0f", direct.Bytes, p.Name, size.Bytes)
		if math.Abs(size.Bytes-direct.Bytes) > direct.Bytes/3 {
			t.Errorf("with %s %.0f bytes, over memory %.0f", p.Name, size.Bytes, direct.Bytes)
		}
		if size.Goroutines != direct.Goroutines {
			t.Errorf("with %s %v goroutines, over memory %v", p.Name, size.Goroutines, direct.Goroutines)
		}
	}
}
