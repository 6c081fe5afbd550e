package main

import (
	"io"
	"testing"

	"github.com/tenure-go/tenure/bench/peers"
	"github.com/tenure-go/tenure/bench/peers/contenders"
)

func TestFlags(t *testing.T) {
	o, err := parse([]string{"-contenders", "redsync, pglock,redsync", "-short", "-write", "doc.md"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.peers) != 2 || o.peers[0].Name != "redsync" || o.peers[1].Name != "pglock" {
		t.Errorf("the contenders are %v", peers.Contenders(o.peers).Names())
	}
	if o.plan.Load != peers.ShortPlan().Load || o.document != "doc.md" {
		t.Errorf("the plan is %+v, the document %q", o.plan, o.document)
	}
	if o, err = parse(nil, io.Discard); err != nil || len(o.peers) != len(contenders.All()) || !o.plan.Defaults {
		t.Errorf("without flags %d contenders are measured: %v", len(o.peers), err)
	}
}

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{{"-contenders", "raft"}, {"-no-such-flag"}, {"argument"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}
