//go:build linux

package main

import (
	"io"
	"testing"
	"time"

	"github.com/tenure-go/tenure/integration/internal/beds"
	"github.com/tenure-go/tenure/integration/internal/nemesis"
)

func TestFlags(t *testing.T) {
	f, err := parse([]string{"-store", "redis, file", "-faults", "kill,partition", "-for", "30s", "-seed", "9"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.beds) != 2 || f.beds[0].Name != "redis" || len(f.Faults) != 2 || f.For != 30*time.Second || f.Seed != 9 {
		t.Errorf("the flags are %+v", f)
	}
	f, err = parse([]string{"-store", "all"}, io.Discard)
	if err != nil || len(f.beds) != len(beds.All()) || len(f.Faults) != len(nemesis.All()) {
		t.Errorf("all stores are %d with %d faults, %v", len(f.beds), len(f.Faults), err)
	}
}

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{
		{"-store", "floppy"},
		{"-store", ""},
		{"-faults", "rain"},
		{"-for", "long"},
		{"argument"},
		{"-no-such-flag"},
		{"-ttl", "1500ms"},
		{"-candidates", "1"},
		{"-write", "x.md"},
		{"-unsafe", "everything"},
		{"-store", "redis", "-unsafe", "forgetful-store"},
	} {
		if status := run(t.Context(), args, io.Discard, io.Discard); status != misused {
			t.Errorf("%q: the status is %d, want %d", args, status, misused)
		}
	}
	if status := run(t.Context(), []string{"-judge", t.TempDir()}, io.Discard, io.Discard); status != broken {
		t.Errorf("where no run was: the status is %d, want %d", status, broken)
	}
	if status := run(t.Context(), []string{"-h"}, io.Discard, io.Discard); status != passed {
		t.Errorf("-h: the status is %d", status)
	}
}
