package tenuretest

import "github.com/tenure-go/tenure"

// rule is one rule of the store contract with the check of it.
type rule struct {
	id    string // stable: people skip and cite rules by it
	text  string
	check func(*trial)
	needs []need // what the rule is about, if not every store has it
	alone bool   // the check would disturb others that run at the same time, or be disturbed by them
}

// rules is the store contract. The comments of tenure.Store and its optional interfaces are the source; a rule here
// that they do not state would be a rule that nobody was told.
var rules = []rule{
	{
		id: "LOAD-MISSING", check: loadMissing,
		text: "Load of an election without a record returns no error, a zero Version and nothing but a token floor",
	},
	{
		id: "LOAD-CURRENT", check: loadCurrent,
		text: "Load returns the record that was last written, with the Version that its CompareAndSwap returned",
	},
	{
		id: "LOAD-WHOLE", check: loadWhole,
		text: "Load returns one state, never a mixture of two, while others write",
	},
	{
		id: "LOAD-ABANDONED", check: loadAbandoned,
		text: "a record is not Abandoned while the process that wrote it lives and has the store open",
	},

	{
		id: "CAS-CREATE", check: casCreate,
		text: "CompareAndSwap with a zero Version creates a record where there is none, a vacant and paused one too",
	},
	{
		id: "CAS-TAKEN", check: casTaken,
		text: "CompareAndSwap with a zero Version returns ErrConflict and writes nothing if there is a record, " +
			"a vacant or forgotten one too",
	},
	{
		id: "CAS-REPLACE", check: casReplace,
		text: "CompareAndSwap from the current Version replaces the whole record: what is empty in the new one is gone",
	},
	{
		id: "CAS-RETURN", check: casReturn,
		text: "CompareAndSwap returns the state as stored, and its Version serves for the next swap",
	},
	{
		id: "CAS-OLD", check: casOld,
		text: "CompareAndSwap from an earlier Version returns ErrConflict and writes nothing",
	},
	{
		id: "CAS-WRONG", check: casWrong,
		text: "CompareAndSwap from a Version of another election returns ErrConflict and writes nothing",
	},
	{
		id: "CAS-MISSING", check: casMissing,
		text: "CompareAndSwap from a Version where there is no record returns ErrConflict and creates none",
	},
	{
		id: "CAS-ONE-CREATOR", check: casOneCreator,
		text: "of concurrent CompareAndSwaps with a zero Version exactly one creates the record, " +
			"the others return ErrConflict",
	},
	{
		id: "CAS-ONE-WINNER", check: casOneWinner,
		text: "of concurrent CompareAndSwaps from one Version exactly one succeeds, the others return ErrConflict, " +
			"and no accepted write is lost",
	},
	{
		id: "CAS-APART", check: casApart,
		text: "elections are independent: a write to one changes neither record nor Version of another, " +
			"even one whose name begins with its own",
	},

	{
		id: "RECORD-PLAIN", check: recordPlain,
		text: "Leader, Session, Renewals and Address are stored as they are, in any language and up to 255 bytes",
	},
	{
		id: "RECORD-TOKEN", check: recordToken,
		text: "every Token up to MaxToken is stored exactly",
	},
	{
		id: "RECORD-TTL", check: recordTTL,
		text: "every TTL that is a multiple of the store's unit is stored exactly, up to MaxTTL",
	},
	{
		id: "RECORD-METADATA", check: recordMetadata,
		text: "Metadata is stored as it is: empty and long values, quotes, line breaks, any language",
	},
	{
		id: "RECORD-VACANT", check: recordVacant,
		text: "a vacant record keeps its Token and TTL, and the candidate that it is Reserved for",
	},
	{
		id: "RECORD-FORGOTTEN", check: recordForgotten,
		text: "a Forgotten record stays one, with its Token",
	},
	{
		id: "RECORD-REQUEST", check: recordRequest,
		text: "a Request is stored with all of its fields",
	},
	{
		id: "RECORD-PAUSE", check: recordPause,
		text: "a Pause is stored with all of its fields",
	},
	{
		id: "RECORD-TIMES", check: recordTimes,
		text: "ElectedAt and RenewedAt are stored as instants, to the millisecond at least; a zero time stays zero",
	},
	{
		id: "RECORD-EXTRA", check: recordExtra,
		text: "fields in Extra, which this version does not know, are stored with equal JSON values",
	},

	{
		id: "VERSION-MOVES", check: versionMoves,
		text: "every accepted write makes a new Version, even if the record stays the same",
	},
	{
		id: "VERSION-ABA", check: versionABA,
		text: "a Version does not recur when the record reads as it did before",
	},
	{
		id: "VERSION-DELETED", check: versionDeleted, needs: []need{deleting},
		text: "a Version does not recur after the record was deleted behind the store's back and created anew",
	},
	{
		id: "VERSION-PRUNED", check: versionPruned, needs: []need{pruning}, alone: true,
		text: "a Version does not recur after the record was pruned and created anew",
	},

	{
		id: "ALIAS-IN", check: aliasIn,
		text: "a record can be changed by its owner after it was passed to CompareAndSwap, without effect on the store",
	},
	{
		id: "ALIAS-OUT", check: aliasOut,
		text: "a record that the store returned can be changed without effect on the store",
	},

	{
		id: "CONTEXT-LOAD", check: contextLoad,
		text: "Load with a context that has ended returns an error soon",
	},
	{
		id: "CONTEXT-SWAP", check: contextSwap,
		text: "CompareAndSwap with a context that has ended returns an error soon, not ErrConflict, and writes nothing, " +
			"then or later",
	},
	{
		id: "CONTEXT-MIDWAY", check: contextMidway,
		text: "a context that ends during a call ends the call soon, leaves the old record or the new one, " +
			"and does no harm to later calls",
	},

	{
		id: "NAME-ANY", check: nameAny,
		text: "every name that CheckElection accepts can name an election, whatever it means to the store's language, " +
			"path or pattern syntax",
	},
	{
		id: "NAME-DISTINCT", check: nameDistinct,
		text: "names that differ are different elections: in case, in trailing dots and spaces, before and after escaping",
	},
	{
		id: "NAME-LONG", check: nameLong,
		text: "a name can have 255 bytes, all of which count",
	},

	{
		id: "SECOND-SEES", check: secondSees, needs: []need{second},
		text: "what one client of the store wrote, another one loads soon, and may replace",
	},
	{
		id: "SECOND-ONE-WINNER", check: secondOneWinner, needs: []need{second},
		text: "of concurrent CompareAndSwaps from one Version through two clients exactly one succeeds",
	},
	{
		id: "SECOND-WATCH", check: secondWatch, needs: []need{second, watching},
		text: "a change made through one client is delivered to a watch of another",
	},

	{
		id: "WATCH-FIRST", check: watchFirst, needs: []need{watching},
		text: "the first delivery of a watch is the current state",
	},
	{
		id: "WATCH-MISSING", check: watchMissing, needs: []need{watching},
		text: "the first delivery of a watch is the current state of a missing record too: a zero Version and no error",
	},
	{
		id: "WATCH-CREATE", check: watchCreate, needs: []need{watching},
		text: "a watch of a missing record delivers its creation",
	},
	{
		id: "WATCH-LAST", check: watchLast, needs: []need{watching},
		text: "the last change of a burst is delivered, and nothing older after it",
	},
	{
		id: "WATCH-SERIAL", check: watchSerial, needs: []need{watching},
		text: "deliver is never called concurrently with itself for one watch",
	},
	{
		id: "WATCH-TWO", check: watchTwo, needs: []need{watching},
		text: "two watches of one election are both served, and the end of one does not end the other",
	},
	{
		id: "WATCH-APART", check: watchApart, needs: []need{watching},
		text: "a watch delivers nothing of other elections, even those whose names begin with its own",
	},
	{
		id: "WATCH-ALIAS", check: watchAlias, needs: []need{watching},
		text: "a record that was delivered can be changed without effect on the store",
	},
	{
		id: "WATCH-SLOW", check: watchSlow, needs: []need{watching},
		text: "a deliver function that blocks, though it must not, holds up no writer",
	},
	{
		id: "WATCH-CONTEXT", check: watchContext, needs: []need{watching},
		text: "the end of the context that Watch was called with does not end the watch",
	},
	{
		id: "WATCH-STOP", check: watchStop, needs: []need{watching},
		text: "after stop has returned deliver is not called again, whatever changes",
	},
	{
		id: "WATCH-STOP-TWICE", check: watchStopTwice, needs: []need{watching},
		text: "stop can be called more than once, and concurrently",
	},
	{
		id: "WATCH-GOROUTINES", check: watchGoroutines, needs: []need{watching}, alone: true,
		text: "all watches of a store are served by a fixed number of goroutines, not one each",
	},

	{
		id: "LEFT-TERMS", check: leftTerms, alone: true,
		text: "terms that are over leave no goroutines and no open files behind in the process",
	},
	{
		id: "LEFT-WATCHES", check: leftWatches, needs: []need{watching}, alone: true,
		text: "watches that were stopped leave no goroutines and no open files behind in the process",
	},

	{
		id: "LIST-NAMES", check: listNames, needs: []need{listing},
		text: "List returns each election that has a record once, and none that was merely loaded or watched",
	},
	{
		id: "LIST-SORTED", check: listSorted, needs: []need{listing},
		text: "List returns the names sorted bytewise",
	},
	{
		id: "LIST-FORGOTTEN", check: listForgotten, needs: []need{listing},
		text: "List returns vacant and forgotten elections too",
	},
	{
		id: "LIST-ANY", check: listAny, needs: []need{listing}, alone: true,
		text: "List returns every name as it was given, whatever the store has to make of it",
	},

	{
		id: "PRUNE-DELETES", check: pruneDeletes, needs: []need{pruning}, alone: true,
		text: "Prune deletes records that are vacant, unpaused and unchanged for the given time, and returns their names",
	},
	{
		id: "PRUNE-HELD", check: pruneHeld, needs: []need{pruning}, alone: true,
		text: "Prune keeps records that have a leader, however long ago it renewed by its own clock",
	},
	{
		id: "PRUNE-PAUSED", check: prunePaused, needs: []need{pruning}, alone: true,
		text: "Prune keeps records that are paused",
	},
	{
		id: "PRUNE-RECENT", check: pruneRecent, needs: []need{pruning}, alone: true,
		text: "Prune keeps records that were changed within the given time",
	},
	{
		id: "PRUNE-FLOOR", check: pruneFloor, needs: []need{pruning}, alone: true,
		text: "after Prune, Load of a missing record returns at least the highest pruned Token, under every name",
	},
	{
		id: "PRUNE-FLOOR-STAYS", check: pruneFloorStays, needs: []need{pruning}, alone: true,
		text: "the floor does not fall when a record with a lower Token is pruned",
	},
	{
		id: "PRUNE-FLOOR-HOLDS", check: pruneFloorHolds, needs: []need{pruning}, alone: true,
		text: "a new record whose first term is not above the floor is refused with ErrConflict and not written",
	},
	{
		id: "PRUNE-WATCH", check: pruneWatch, needs: []need{pruning, watching}, alone: true,
		text: "a watch delivers that its record was pruned",
	},

	{
		id: "GUARANTEE-REASON", check: guaranteeReason, needs: []need{guaranteeing},
		text: "Guarantee returns one of the four grades, with at least one reason and none that is empty",
	},
	{
		id: "TTL-UNIT", check: ttlUnit, needs: []need{rounding},
		text: "TTLUnit is above zero and at most MaxTTL",
	},
}

// need is something that a rule is about and that the store, or the kit's wiring, may lack.
type need struct {
	lack string // the reason to skip the rule
	met  func(*trial) bool
}

var (
	watching     = implementing[tenure.Watcher]("the store is no tenure.Watcher")
	listing      = implementing[tenure.Lister]("the store is no tenure.Lister")
	pruning      = implementing[tenure.Pruner]("the store is no tenure.Pruner")
	guaranteeing = implementing[tenure.Guarantor]("the store is no tenure.Guarantor")
	rounding     = implementing[tenure.TTLUnit]("the store is no tenure.TTLUnit")
	second       = need{"WithSecond was not given", func(c *trial) bool { return c.second != nil }}
	deleting     = need{"WithDelete was not given", func(c *trial) bool { return c.remove != nil }}
)

func implementing[T any](lack string) need {
	return need{lack, func(c *trial) bool {
		_, ok := c.store.(T)
		return ok
	}}
}
