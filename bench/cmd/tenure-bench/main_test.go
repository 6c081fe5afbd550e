package main

import (
	"io"
	"testing"
	"time"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/bench/beds"
)

func TestFlags(t *testing.T) {
	o, err := parse([]string{"-stores", "file, memory,file", "-short", "-for", "3s", "-write", "doc.md"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.beds) != 2 || o.beds[0].Name != "file" || o.beds[1].Name != "memory" {
		t.Errorf("the stores are %v", o.beds)
	}
	if o.plan.Herd != bench.ShortPlan().Herd || o.plan.Load != 3*time.Second || o.document != "doc.md" {
		t.Errorf("the plan is %+v, the document %q", o.plan, o.document)
	}
	if o, err = parse(nil, io.Discard); err != nil || len(o.beds) != len(beds.All()) || o.plan.Load != time.Minute {
		t.Errorf("without flags %d stores are measured for %v: %v", len(o.beds), o.plan.Load, err)
	}
}

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{{"-stores", "floppy"}, {"-for", "long"}, {"-no-such-flag"}, {"argument"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}
