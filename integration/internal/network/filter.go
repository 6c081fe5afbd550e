//go:build linux

package network

import (
	"fmt"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// count makes the chains of this end. Packets are lost where they arrive and not where they are sent, since the kernel
// tells a sender at once of what it has dropped itself, and TCP then takes it for less than a loss.
func (e *end) count() error {
	table := e.rules.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "tenure"})
	chain := func(name string, priority *nftables.ChainPriority) *nftables.Chain {
		return e.rules.AddChain(&nftables.Chain{
			Name: name, Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookInput, Priority: priority,
		})
	}
	e.lost = chain("lost", nftables.ChainPriorityFilter)
	e.arrived = chain("arrived", nftables.ChainPriorityLast)
	e.rule(e.arrived, expr.VerdictAccept)
	if err := e.rules.Flush(); err != nil {
		return fmt.Errorf("count packets with nftables: %w", err)
	}
	return nil
}

// rule counts what comes by the cable, and decides what becomes of it.
func (e *end) rule(chain *nftables.Chain, verdict expr.VerdictKind) {
	name := make([]byte, unix.IFNAMSIZ)
	copy(name, cable)
	e.rules.AddRule(&nftables.Rule{Table: chain.Table, Chain: chain, Exprs: []expr.Any{
		&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: name},
		&expr.Counter{},
		&expr.Verdict{Kind: verdict},
	}})
}

// drop loses everything that comes by the cable from now on.
func (e *end) drop() error {
	e.rule(e.lost, expr.VerdictDrop)
	return e.rules.Flush()
}

// heal ends that.
func (e *end) heal() error {
	e.rules.FlushChain(e.lost)
	return e.rules.Flush()
}

// counted is how many packets the rules of a chain have met since they were made.
func (e *end) counted(chain *nftables.Chain) (packets uint64, err error) {
	rules, err := e.rules.GetRules(chain.Table, chain)
	if err != nil {
		return 0, err
	}
	for _, r := range rules {
		for _, x := range r.Exprs {
			if c, ok := x.(*expr.Counter); ok {
				packets += c.Packets
			}
		}
	}
	return packets, nil
}
