package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/file"
)

// TestLookingMakesNoStore: who looks at a mistyped URL, or asks somebody there, is told so and leaves nothing behind.
func TestLookingMakesNoStore(t *testing.T) {
	for scheme, suffix := range map[string]string{"file:": "elections", "sqlite:": "elections.db"} {
		for _, args := range [][]string{
			{"status"},
			{"status", "x"},
			{"list"},
			{"wait", "x", "--vacant"},
			{"resign", "x"},
			{"transfer", "x", "--to", "b"},
			{"resume", "x"},
			{"forget", "x", "--yes"},
			{"prune", "--yes"},
		} {
			dir := t.TempDir()
			o := call(t, append([]string{"--store=" + scheme + filepath.Join(dir, suffix)}, args...)...)
			if o.code != codeStore || !strings.Contains(o.stderr, "there is no such store") ||
				!strings.Contains(o.stderr, suffix) || strings.Count(o.stderr, "\n") != 1 {
				t.Errorf("%s %q: %+v, want 123 and one line that says that there is no such store", scheme, args, o)
			}
			if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
				t.Errorf("%s %q: there is %v, %v", scheme, args, left, err)
			}
		}
	}
}

// TestForeignDirectoryIsNoStore: a directory of something else is not filled either.
func TestForeignDirectoryIsNoStore(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "notes.txt"), "mine")
	if o := call(t, "--store=file:"+dir, "list"); o.code != codeStore || !strings.Contains(o.stderr, "no such store") {
		t.Errorf("%+v, want 123", o)
	}
	if left, err := os.ReadDir(dir); len(left) != 1 || err != nil {
		t.Errorf("there is %v, %v", left, err)
	}
}

// TestPauseComesBeforeTheFirstCandidate: an election can be paused before anybody has made the store.
func TestPauseComesBeforeTheFirstCandidate(t *testing.T) {
	store := "--store=file:" + filepath.Join(t.TempDir(), "elections")
	must(t, store, "pause", "x", "--reason", "maintenance")
	if o := call(t, store, "status", "x"); !strings.Contains(o.stdout, "maintenance") {
		t.Errorf("the status is %+v", o)
	}
}

// TestWaitingOutlastsAMissingStore: who waits for a leader may come before the one that makes the store.
func TestWaitingOutlastsAMissingStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "elections")
	if o := call(t, "--store=file:"+dir, "wait", "x", "--timeout", "20ms"); o.code != codeTimeout ||
		!strings.Contains(o.stderr, "nobody made the store in time") {
		t.Errorf("%+v, want 124", o)
	}
	waited := make(chan outcome)
	go func() { waited <- callWith(t.Context(), "--store=file:"+dir, "wait", "x") }()
	store, err := file.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	place{store, "--store=file:" + dir}.stand(t, "x", "a")
	if o := <-waited; o.code != 0 || !strings.Contains(o.stdout, "leads x") {
		t.Errorf("%+v, want the leader", o)
	}
}
