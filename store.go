package tenure

import (
	"context"
	"time"
)

// Version is a store's opaque mark of one state of a record. The zero Version means that no record exists.
//
// A version never recurs in the life of an election's name, deletion of the record included: a store takes it from
// a revision, a sequence, or a counter with a random start, never from the record's content alone.
type Version string

// Snapshot is one state of an election's record as a store held it.
type Snapshot struct {
	// Version identifies this state for [Store.CompareAndSwap]. It is zero if no record exists.
	Version Version

	// Record is the content. Of a record that does not exist only Token can be set: the floor above which the
	// store lets new records start (see [Pruner]).
	Record Record

	// Abandoned says that no process able to act under the recorded term survives, so that the seat is free at
	// once. Only a store that can vouch for the death of a process may set it, as a kernel lock on a local file
	// system of the same host and boot does. The loss of a session at a server proves nothing of the kind.
	Abandoned bool

	// Revoked says that the store no longer vouches for the recorded term: something else that it rests on, such as
	// a session lock at a server, is lost. The candidate that leads under it stops at once, drains, and gives the
	// seat back; nobody else takes note. Only a store through which that candidate was elected sets it, and then in
	// every later Snapshot of that term.
	Revoked bool
}

// Exists reports whether the store held a record.
func (s Snapshot) Exists() bool { return s.Version != "" }

// Store keeps one record per election and changes it only by compare-and-swap. It is all that an election needs:
// tokens, hand-over, observers and requests work on every store. Package tenuretest checks an implementation.
//
// Both methods are safe for concurrent use. Both return soon after their context ends: a candidate waits for a call
// before it makes the next one, and Stop waits for the last. What a store holds in its process, such as goroutines,
// connections and open files, does not grow with the terms and watches that are over.
//
// The error says what is known of the outcome: [ErrConflict] (the version was not the current one, nothing was
// written), [ErrNotApplied] (certainly not written), [ErrPermanent] (trying again is useless, nothing was written).
// Any other error of CompareAndSwap means that the record may or may not have been written, now or later.
type Store interface {
	// Load returns the current state, as fresh as the store can give it. A record that does not exist is no
	// error: the Snapshot then has a zero Version.
	Load(ctx context.Context, election string) (Snapshot, error)

	// CompareAndSwap writes record if the current version is still old (zero: only if no record exists) and
	// returns the state as stored. It keeps every field of record, those in Record.Extra included. A new record
	// whose term is not above the floor of a [Pruner] is an ErrConflict: its writer has not seen the current state.
	CompareAndSwap(ctx context.Context, election string, old Version, record Record) (Snapshot, error)
}

// Watcher is an optional interface of a [Store] that pushes changes. Without it, candidates and observers poll.
type Watcher interface {
	// Watch calls deliver with every change of the election's record until stop is called. The first delivery,
	// and the first after every interruption, is the current state (of a missing record too); changes in quick
	// succession may be merged into the last of them, but that one is always delivered. An error is delivered
	// when the watch is interrupted; the store restores it by itself, and the next Snapshot says that it has.
	//
	// ctx bounds the set-up alone. deliver is never called concurrently with itself for one watch and never
	// blocks. After stop has returned deliver is not called again; stop is safe to call more than once, but not
	// from within deliver. A store serves all its watches from a fixed number of goroutines, not one for each.
	Watch(ctx context.Context, election string, deliver func(Snapshot, error)) (stop func(), err error)
}

// Lister is an optional interface of a [Store] that can name its elections. Without it, status and list commands
// have to be told the names.
type Lister interface {
	// List returns the names of all elections that have a record, sorted, forgotten ones included.
	List(ctx context.Context) ([]string, error)
}

// Pruner is an optional interface of a [Store] that can delete records physically. Without it, a record is at most
// emptied (see [Forget]).
type Pruner interface {
	// Prune deletes the records that are vacant, unpaused and unchanged for at least unused, and returns their
	// names. It first raises a store-wide floor to their tokens, above which new records start, so that no
	// token ever falls.
	Prune(ctx context.Context, unused time.Duration) ([]string, error)
}

// Guarantor is an optional interface of a [Store] that can tell how strong its guarantee is. Without it the grade is
// [GradeUnknown].
type Guarantor interface {
	// Guarantee probes the live store.
	Guarantee(ctx context.Context) (Guarantee, error)
}

// TTLUnit is an optional interface of a [Store] that cannot hold every TTL exactly. Without it the unit is one
// millisecond, that of the record's JSON form.
type TTLUnit interface {
	// TTLUnit returns the duration of which every TTL must be a whole multiple.
	TTLUnit() time.Duration
}
