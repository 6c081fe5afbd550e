package tenuretest

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// brokenStore is a store that breaks one rule.
type brokenStore struct {
	rule   string
	fault  string   // it is a store that ...
	also   []string // rules that nobody can keep who breaks this one
	ruin   bool     // it is so broken that it may break any other rule too
	breaks breakage
}

// brokenStores are bugs that stores have had or could have. Every rule has at least one of its own.
var brokenStores = []brokenStore{
	{
		rule: "LOAD-MISSING", fault: "invents a leader where there is no record",
		breaks: loads(func(s *tenure.Snapshot) {
			if !s.Exists() {
				s.Record.Leader = "nobody"
			}
		}),
	},
	{
		rule: "LOAD-MISSING", fault: "has a version for what is missing", ruin: true,
		breaks: loads(func(s *tenure.Snapshot) { s.Version = "v" + s.Version }),
	},
	{rule: "LOAD-CURRENT", fault: "has one version for readers and another for writers", breaks: readersVersion},
	{
		rule: "LOAD-CURRENT", fault: "answers with an error", ruin: true,
		breaks: loading(func(read) (tenure.Snapshot, error) { return tenure.Snapshot{}, errors.New("no rows") }),
	},
	{rule: "LOAD-WHOLE", fault: "writes one column later than the others", breaks: lateColumn},
	{
		rule: "LOAD-ABANDONED", fault: "takes every leader for dead",
		breaks: loads(func(s *tenure.Snapshot) { s.Abandoned = !s.Record.Vacant() }),
	},

	{rule: "CAS-CREATE", fault: "wants a leader in every new record", breaks: swapping(wantsLeader)},
	{
		rule: "CAS-CREATE", fault: "returns no version", ruin: true,
		breaks: returns(func(s *tenure.Snapshot) { s.Version = "" }),
	},
	{
		rule: "CAS-CREATE", fault: "writes nothing", ruin: true,
		breaks: swapping(func(w write) (tenure.Snapshot, error) {
			return tenure.Snapshot{Version: "1", Record: w.record}, nil
		}),
	},
	{rule: "CAS-TAKEN", fault: "takes a vacant record for none", breaks: swapping(takesVacantForNone)},
	{rule: "CAS-REPLACE", fault: "merges old metadata into new", breaks: swapping(mergesMetadata)},
	{rule: "CAS-RETURN", fault: "returns the record that it replaced", breaks: swapping(returnsReplaced)},
	{rule: "CAS-OLD", fault: "accepts the version of the creation for ever", breaks: acceptsFirst},
	{rule: "CAS-OLD", fault: "refuses and writes all the same", ruin: true, breaks: swapping(writesRefused)},
	{rule: "CAS-WRONG", fault: "accepts versions that it never made", breaks: acceptsUnknown},
	{
		rule: "CAS-MISSING", fault: "creates a record whatever the version",
		breaks: swapping(func(w write) (tenure.Snapshot, error) {
			if !w.current().Exists() {
				w.old = ""
			}
			return w.done()
		}),
	},
	{rule: "CAS-MISSING", fault: "refuses and creates all the same", ruin: true, breaks: swapping(writesRefused)},
	{
		rule: "CAS-ONE-CREATOR", fault: "creates in two steps",
		breaks: twoSteps(func(old tenure.Version) bool { return old == "" }),
	},
	{rule: "CAS-ONE-CREATOR", fault: "keeps the record of a loser", ruin: true, breaks: swapping(writesRefused)},
	{
		rule: "CAS-ONE-WINNER", fault: "replaces in two steps", also: []string{"SECOND-ONE-WINNER"},
		breaks: twoSteps(func(old tenure.Version) bool { return old != "" }),
	},
	{rule: "CAS-ONE-WINNER", fault: "calls a lost race by another name", breaks: databaseIsLocked},
	{rule: "CAS-APART", fault: "touches the versions below a name", breaks: swapping(touchesChildren)},

	{
		rule: "RECORD-PLAIN", fault: "has a short column for the leader",
		breaks: stores(func(r *tenure.Record) { r.Leader = r.Leader[:min(len(r.Leader), 64)] }),
	},
	{
		rule: "RECORD-TOKEN", fault: "keeps tokens in floating point",
		breaks: stores(func(r *tenure.Record) { r.Token = uint64(float32(r.Token)) }),
	},
	{
		rule: "RECORD-TTL", fault: "keeps TTLs in seconds and does not say so",
		breaks: stores(func(r *tenure.Record) { r.TTL = r.TTL.Truncate(time.Second) }),
	},
	{
		rule: "RECORD-METADATA", fault: "drops empty values",
		breaks: stores(func(r *tenure.Record) {
			maps.DeleteFunc(r.Metadata, func(_, value string) bool { return value == "" })
		}),
	},
	{
		rule: "RECORD-VACANT", fault: "drops the TTL with the leader",
		breaks: stores(func(r *tenure.Record) {
			if r.Vacant() {
				r.TTL = 0
			}
		}),
	},
	{
		rule: "RECORD-FORGOTTEN", fault: "has no column for forgotten",
		breaks: stores(func(r *tenure.Record) { r.Forgotten = false }),
	},
	{
		rule: "RECORD-REQUEST", fault: "drops whom a request is for",
		breaks: stores(func(r *tenure.Record) {
			if r.Request != nil {
				r.Request.To = ""
			}
		}),
	},
	{
		rule: "RECORD-PAUSE", fault: "takes an empty pause for none",
		breaks: stores(func(r *tenure.Record) {
			if r.Pause != nil && *r.Pause == (tenure.Pause{}) {
				r.Pause = nil
			}
		}),
	},
	{
		rule: "RECORD-TIMES", fault: "keeps times in seconds",
		breaks: stores(func(r *tenure.Record) { r.RenewedAt = r.RenewedAt.Truncate(time.Second) }),
	},
	{rule: "RECORD-EXTRA", fault: "decodes and encodes what it does not know", breaks: stores(reencodes)},
	{
		rule: "RECORD-EXTRA", fault: "keeps half of what it does not know",
		breaks: stores(func(r *tenure.Record) {
			for name, text := range r.Extra {
				r.Extra[name] = text[:len(text)/2]
			}
		}),
	},

	{rule: "VERSION-MOVES", fault: "does not write what is already there", breaks: swapping(skipsEqual)},
	{
		rule: "VERSION-ABA", fault: "derives versions from content", also: []string{"VERSION-DELETED"},
		breaks: func(store *memory.Store, s *subject) { s.all(renamed(store, fromContent)) },
	},
	{
		rule: "VERSION-DELETED", fault: "counts versions from one after a deletion",
		breaks: func(store *memory.Store, s *subject) {
			counting := renamed(store, fromCount)
			s.all(counting)
			s.remove = func(election string) { store.Delete(election); counting.restart() }
		},
	},
	{
		rule: "VERSION-PRUNED", fault: "counts versions from one after a pruning",
		breaks: func(store *memory.Store, s *subject) {
			counting := renamed(store, fromCount)
			counting.restartsOnPrune = true
			s.all(counting)
		},
	},

	{rule: "ALIAS-IN", fault: "keeps the map that it was given", breaks: keepsMap},
	{rule: "ALIAS-OUT", fault: "hands out its cache", breaks: handsOutCache},

	{
		rule: "CONTEXT-LOAD", fault: "ignores the context of Load",
		breaks: loading(func(r read) (tenure.Snapshot, error) {
			r.ctx = context.WithoutCancel(r.ctx)
			return r.done()
		}),
	},
	{
		rule: "CONTEXT-SWAP", fault: "ignores the context of CompareAndSwap",
		breaks: swapping(func(w write) (tenure.Snapshot, error) {
			w.ctx = context.WithoutCancel(w.ctx)
			return w.done()
		}),
	},
	{
		rule: "CONTEXT-SWAP", fault: "takes a cancelled call for a conflict",
		breaks: swapping(func(w write) (tenure.Snapshot, error) {
			if w.ctx.Err() != nil {
				return tenure.Snapshot{}, tenure.ErrConflict
			}
			return w.done()
		}),
	},
	{rule: "CONTEXT-SWAP", fault: "carries out later what was cancelled", breaks: writesLater},
	{rule: "CONTEXT-MIDWAY", fault: "looks at the context only at the start", breaks: loading(looksOnce)},
	{
		rule: "CONTEXT-MIDWAY", fault: "keeps a record that nobody wrote", ruin: true,
		breaks: stores(func(r *tenure.Record) { r.Renewals = 1000 }),
	},

	{
		rule: "NAME-ANY", fault: "pastes names into statements",
		breaks: swapping(func(w write) (tenure.Snapshot, error) {
			if strings.Contains(w.election, "'") {
				return tenure.Snapshot{}, tenure.Permanent(errors.New("syntax error"))
			}
			return w.done()
		}),
	},
	{rule: "NAME-DISTINCT", fault: "ignores case", breaks: keyedBy(strings.ToLower)},
	{
		rule: "NAME-LONG", fault: "cuts names at 200 bytes",
		breaks: keyedBy(func(name string) string { return name[:min(len(name), 200)] }),
	},

	{rule: "SECOND-SEES", fault: "caches for ever what it has loaded", breaks: cachesForever},
	{
		rule: "SECOND-SEES", fault: "has two sets of data", ruin: true,
		breaks: func(_ *memory.Store, s *subject) { s.second = memory.New() },
	},
	{rule: "SECOND-ONE-WINNER", fault: "locks within one client only", breaks: locksLocally},
	{rule: "SECOND-WATCH", fault: "hears its own changes only", breaks: hearsItself},

	{rule: "WATCH-FIRST", fault: "begins every watch with a missing record", breaks: watchingBy(beginsMissing)},
	{
		rule: "WATCH-MISSING", fault: "says nothing until there is a record",
		breaks: delivers(func(before int, s tenure.Snapshot) bool { return before > 0 || s.Exists() }),
	},
	{
		rule: "WATCH-MISSING", fault: "delivers a version for what is missing", ruin: true,
		breaks: watchingBy(func(h hearing) (func(), error) {
			return h.by(func(s tenure.Snapshot, err error) {
				s.Version = "v" + s.Version
				h.deliver(s, err)
			})
		}),
	},
	{rule: "WATCH-CREATE", fault: "hears updates but not creations", breaks: watchingBy(missesCreation)},
	{
		rule: "WATCH-LAST", fault: "gives up in a long burst",
		breaks: delivers(func(_ int, s tenure.Snapshot) bool { return s.Record.Renewals <= 32 }),
	},
	{rule: "WATCH-LAST", fault: "delivers the past after the present", breaks: watchingBy(deliversPast)},
	{rule: "WATCH-SERIAL", fault: "delivers from several goroutines", breaks: watchingBy(deliversInParallel)},
	{rule: "WATCH-TWO", fault: "keeps one watch for each election", breaks: keepsLastWatch},
	{rule: "WATCH-APART", fault: "watches everything below a name", breaks: watchesChildren},
	{rule: "WATCH-ALIAS", fault: "keeps in its cache what it has delivered", breaks: cachesDelivered},
	{rule: "WATCH-SLOW", fault: "writes only while it does not deliver", breaks: writesBetweenDeliveries},
	{
		rule: "WATCH-CONTEXT", fault: "watches as long as the context lasts",
		breaks: watchingBy(func(h hearing) (func(), error) {
			stop, err := h.done()
			context.AfterFunc(h.ctx, stop)
			return stop, err
		}),
	},
	{
		rule: "WATCH-STOP", fault: "goes on after stop",
		breaks: watchingBy(func(h hearing) (func(), error) {
			_, err := h.done()
			return func() {}, err
		}),
	},
	{rule: "WATCH-STOP", fault: "does not wait for what is on its way", breaks: deliversLate},
	{
		rule: "WATCH-STOP-TWICE", fault: "closes a channel in stop",
		breaks: watchingBy(func(h hearing) (func(), error) {
			done := make(chan struct{})
			stop, err := h.done()
			return func() { stop(); close(done) }, err
		}),
	},
	{
		rule: "WATCH-STOP-TWICE", fault: "waits in stop for ever", ruin: true,
		breaks: watchingBy(func(hearing) (func(), error) { return func() { time.Sleep(time.Hour) }, nil }),
	},
	{rule: "WATCH-GOROUTINES", fault: "has a goroutine for each watch", breaks: watchingBy(goroutineEach)},

	{rule: "LEFT-TERMS", fault: "has a goroutine for each session that it ever saw", breaks: swapping(goroutineKept)},
	{
		rule: "LEFT-WATCHES", fault: "does not tell the goroutine that serves a watch of its end",
		breaks: watchingBy(func(h hearing) (func(), error) {
			stop, err := h.done()
			return sync.OnceFunc(func() { stop(); go time.Sleep(12 * time.Hour) }), err
		}),
	},

	{rule: "LIST-NAMES", fault: "lists what was merely asked for", breaks: listsLoaded},
	{
		rule: "LIST-NAMES", fault: "lists names twice", ruin: true,
		breaks: lists(func(_ *memory.Store, names []string) []string {
			return slices.Sorted(slices.Values(append(names, names...)))
		}),
	},
	{
		rule: "LIST-SORTED", fault: "lists backwards",
		breaks: lists(func(_ *memory.Store, names []string) []string { slices.Reverse(names); return names }),
	},
	{
		rule: "LIST-FORGOTTEN", fault: "lists only elections with a leader",
		breaks: lists(func(store *memory.Store, names []string) []string {
			return slices.DeleteFunc(names, func(name string) bool { return current(store, name).Record.Vacant() })
		}),
	},
	{
		rule: "LIST-ANY", fault: "lists names as it encodes them",
		breaks: lists(func(_ *memory.Store, names []string) []string {
			for i, name := range names {
				names[i] = url.PathEscape(name)
			}
			slices.Sort(names)
			return names
		}),
	},

	{
		rule: "PRUNE-DELETES", fault: "does not say what it pruned",
		breaks: pruningBy(func(ctx context.Context, store *memory.Store, unused time.Duration) ([]string, error) {
			_, err := store.Prune(ctx, unused)
			return nil, err
		}),
	},
	{rule: "PRUNE-DELETES", fault: "says so but does not delete", ruin: true, breaks: pruningBy(prunesInWords)},
	{
		rule: "PRUNE-HELD", fault: "compares a leader's wall clock with its own",
		breaks: prunesToo(func(r tenure.Record) bool {
			return !r.RenewedAt.IsZero() && time.Since(r.RenewedAt) > r.TTL
		}),
	},
	{
		rule: "PRUNE-PAUSED", fault: "prunes what is paused",
		breaks: prunesToo(func(r tenure.Record) bool { return r.Pause != nil && r.Vacant() }),
	},
	{
		rule: "PRUNE-RECENT", fault: "does not look at the age",
		breaks: pruningBy(func(ctx context.Context, store *memory.Store, _ time.Duration) ([]string, error) {
			return store.Prune(ctx, 0)
		}),
	},
	{rule: "PRUNE-RECENT", fault: "says that it deleted what it kept", ruin: true, breaks: pruningBy(prunesInWords)},
	{rule: "PRUNE-FLOOR", fault: "tells the floor only under new names", breaks: forgetsFloor},
	{rule: "PRUNE-FLOOR-STAYS", fault: "lowers the floor", breaks: lowersFloor},
	{rule: "PRUNE-FLOOR-HOLDS", fault: "tells the floor but does not hold it", breaks: swapping(createsUnderFloor)},
	{
		rule: "PRUNE-WATCH", fault: "hears changes but not deletions",
		breaks: delivers(func(before int, s tenure.Snapshot) bool { return before == 0 || s.Exists() }),
	},

	{
		rule: "GUARANTEE-REASON", fault: "gives no reason",
		breaks: func(store *memory.Store, s *subject) {
			s.all(claiming{store, tenure.Guarantee{Grade: tenure.GradeExclusive}})
		},
	},
	{
		rule: "GUARANTEE-REASON", fault: "invents a grade",
		breaks: func(store *memory.Store, s *subject) {
			s.all(claiming{store, tenure.Guarantee{Grade: 9, Reasons: []string{"it is the best"}}})
		},
	},
	{
		rule: "TTL-UNIT", fault: "has a unit of nothing",
		breaks: func(store *memory.Store, s *subject) { s.all(noUnit{store}) },
	},
}
