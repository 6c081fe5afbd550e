package track

const notRecorded = "not recorded"

// Bugs are in the order in which they were found.
var Bugs = []Bug{
	{
		Text: "The garbage collector closed the lock of a term whose `Store` was dropped while its work went on: others " +
			"took the leader for dead, and led beside it",
		FoundBy: notRecorded, Module: ".", File: "file/termlock.go",
		Old: "\tstanding.Store(lock, nil)\n", New: "",
		Package: "file", Test: "TestDroppedStoreKeepsItsLocks",
	},
	{
		Text: "What remains of a term was read from two clocks: after a suspension together with a wall clock set back, " +
			"the deadlines of a guard were too late",
		FoundBy: notRecorded, Module: ".", File: "term.go",
		Old: "Boot: time.Duration(t.boot.Load()),", New: "Boot: 1 << 62,",
		Package: ".", Test: "TestRemainingHeedsEveryClock",
	},
	{
		Text:    "A failure of the store that was repaired within a term ended a later run",
		FoundBy: "a black-box test of `tenure run`", Module: ".", File: "stint.go",
		Old: "\t\t\ts.permanent = nil // the cause was repaired\n", New: "",
		Package: ".", Test: "TestRunForgetsAPermanentFailureThatWasRepaired",
	},
	{
		Text: "A lease of a blob that was taken over from a dead leader kept the dead leader's duration, and could run " +
			"out under the new one",
		FoundBy: notRecorded, Module: "stores/azblob", File: "lease.go",
		Old: "err = l.acquire(ctx, election, id, ttl) // a changed", New: "err = nil // a changed",
		Package: ".", Test: "TestLeaseOfADeadLeaderIsMadeLonger",
	},
	{
		Text: "A slow bid took the session of a faster one for a zombie, and ended it: the winner of the race lost its " +
			"lock in the database",
		FoundBy: notRecorded, Module: "stores/postgres", File: "advisory_statements.go",
		Old: "WHERE election = $5::text), '') = $6::text`", New: "WHERE election = $5::text), '') <> $6::text || '~'`",
		Package: ".", Test: "TestSlowBidDoesNotEvictAFasterOne",
	},
	{
		Text:    "A bid that its caller gave up while it landed lost the lock for the term that it had begun",
		FoundBy: notRecorded, Module: "stores/postgres", File: "advisory_bid.go",
		Old: "\t\t\tif r.err != nil || !r.got {\n", New: "\t\t\tif true {\n",
		Package: ".", Test: "TestBidOfAnImpatientCaller",
	},
	{
		Text: "A subscription that stood and answered, but at a Redis server that was not the master any more, was held " +
			"to be whole: candidates heard of no change",
		FoundBy: notRecorded, Module: "stores/redis", File: "line.go",
		Old:     "\tif known && last != saying(state) && state.Exists() {\n",
		New:     "\tif false && known && last != saying(state) && state.Exists() {\n",
		Package: ".", Test: "TestSubscriptionAtAFormerMaster",
	},
	{
		Text: "A guard process that was stuck while its supervisor ended the command took that for the command's own end: " +
			"`tenure run` ended instead of standing again",
		FoundBy: notRecorded, Module: "cmd/tenure", File: "internal/guard/secondline_unix.go",
		Old: "\t\tif l.acted != leading && r.Cause == CauseExit {\n", New: "\t\tif false {\n",
		Package: "internal/guard", Test: "TestCauseOfWhatTheGuardProcessHasNotDone",
	},
	{
		Text:    "What a busy database refused at SERIALIZABLE was read again for 50 ms only, and then reported as failed",
		FoundBy: "the conformance kit on a busy machine", Module: ".", File: "sqlstore/store.go",
		Old: "if pause > 32*time.Millisecond ||", New: "if pause > 10*time.Millisecond ||",
		Package: "sqlstore", Test: "TestReadsOfABusyDatabaseAreRepeated",
	},
	{
		Text: "A sidecar that was started anew gave its own name as the leader's, from what an earlier process of the name " +
			"had left in the record: clients that compare the two took it for the leader",
		FoundBy: notRecorded, Module: "cmd/tenure", File: "internal/sidecar/election.go",
		Old: "\tif !now.Led() || e.own != nil && now.Record.Leader == s.id {\n", New: "\tif !now.Led() {\n",
		Package: "internal/sidecar", Test: "TestLeaderIsNotAnEarlierProcessOfTheName",
	},
	{
		Text: "A NATS user whose right to subscribe was taken away and given back, while it was connected, stayed without " +
			"answers: the server removes its subscriptions, and neither it nor the client restores them. Candidates of such a " +
			"user never led again",
		FoundBy: "taking rights away from connected users, when the fault `revoke` was made for NATS",
		Module:  "stores/natskv", File: "open.go",
		Old: "new(resubscriber).heed", New: "func(*nats.Conn, *nats.Subscription, error) {}",
		Package: ".", Test: "TestRightsAreTakenAwayAndGivenBack",
	},
	{
		Text: "PostgreSQL shows a commit that gave up waiting for its synchronous standby. A leader took such a renewal of " +
			"its own for made: when the standby was promoted without it, another one led beside it",
		FoundBy: "the test of a bed whose primary is cut off from its standby; runs on it then met tokens used twice",
		Module:  "stores/postgres", File: "store.go",
		Old: "err == nil && s.doubts.About(election, false) {", New: "err == nil && false {",
		Package: ".", Test: "TestOwnWriteIsBelievedOnlyIfTheStandbyHasIt",
	},
	{
		Text:    "The same in the store over `database/sql`",
		FoundBy: "the same", Module: "sqlstore/sqltest", File: "../store.go",
		Old: "err == nil && s.doubts.About(election, false) {", New: "err == nil && false {",
		Package: ".", Test: "TestOwnWriteIsBelievedOnlyOnceTheStandbyHasIt",
	},
	{
		Text: "`Close` of a store that `Open` had made closed no connection: the SDK's client hides the transport that " +
			"can. Those that a cut network had left stayed open for 90 s more",
		FoundBy: "a chaos run with packets that vanished: a candidate left 8 goroutines and 4 sockets behind",
		Module:  "stores/s3", File: "open.go",
		Old: "c.CheckRedirect = frozen.CheckRedirect", New: "c = frozen",
		Package: ".", Test: "TestCloseLeavesNoConnection",
	},
	{
		Text: "`Close` of a store that `Open` had made closed no connection: they were in the transport that all clients " +
			"of the SDK in a process share",
		FoundBy: "a chaos run with packets that vanished: a candidate left 8 goroutines and 4 sockets behind",
		Module:  "stores/azblob", File: "store.go",
		Old: "if s.objects.Close() && s.owned != nil {", New: "if s.objects.Close() && false {",
		Package: ".", Test: "TestCloseLeavesNoConnection",
	},
	{
		Text: "After a restart of the API server, which at first forbids what it allows, a process that stands by in " +
			"several elections was told of no change for half a minute, and polled",
		FoundBy: "the first chaos runs on Kubernetes, whose candidates met changes that their watch had not told",
		Module:  "stores/kubernetes", File: "feed.go",
		Old: "return min(now.Sub(r.since), forbiddenPause)", New: "return forbiddenPause",
		Package: ".", Test: "TestWatchIsRefusedForAMoment",
	},
	{
		Text: "The pause between attempts to watch, which doubles, overflowed after 38 that had failed at once: from then " +
			"on every process that watched a server which refuses connections asked it without any pause",
		FoundBy: "the test of the row above, when the other pause was taken out of it",
		Module:  ".", File: "internal/feed/feed.go",
		Old: "if pause = min(2*pause, lastPause); time.Since(started) > lastPause {\n\t\t\tpause = firstPause\n\t\t}\n" +
			"\t\tselect {\n\t\tcase <-time.After(pause):",
		New: "if pause *= 2; time.Since(started) > lastPause {\n\t\t\tpause = firstPause\n\t\t}\n" +
			"\t\tselect {\n\t\tcase <-time.After(min(pause, lastPause)):",
		Package: "internal/feed", Test: "TestReadingsThatFailArePaced",
	},
	{
		Text: "The watch of a process that stands by in one election now and then began as one of all Leases of the " +
			"namespace, and stayed that for minutes: what was read was chosen by a goroutine that could run before the " +
			"election was noted",
		FoundBy: "a test of what a watch asks for, once in dozens of runs",
		Module:  ".", File: "internal/feed/feed.go",
		Old: "f.add(first)\n", New: "time.AfterFunc(time.Millisecond, func() { f.add(first) })\n",
		Package: "internal/feed", Test: "TestFirstReadingKnowsTheFirstWatch",
	},
	{
		Text: "The leader of a NATS bucket of several copies refuses a write to a key for a moment after it has " +
			"acknowledged the one before, and told the watches of it. Such a refusal was taken for a conflict: a bid for " +
			"a seat that had just become vacant waited for news of a winner whom there was not, for as long as a call " +
			"may take",
		FoundBy: "the conformance kit on a busy machine, once in about forty runs",
		Module:  "stores/natskv", File: "send.go",
		Old: "if !occupied(err) || rest > lastRest {", New: "if true {",
		Package: ".", Test: "TestOccupiedKeyIsAskedForAgain",
	},
	{
		Text: "`tenure serve` did not end while a service manager that it tells of its signs of life had stopped reading " +
			"them: the socket was full, and what was to be told waited for ever",
		FoundBy: "a test of the command, on a runtime that stalls at random",
		Module:  "cmd/tenure", File: "notify.go",
		Old: "_ = m.conn.SetWriteDeadline(time.Now().Add(lastWords))", New: "_ = lastWords",
		Package: ".", Test: "TestServeEndsUnderManagerThatStopsReading",
	},
	{
		Text: "A watch of a NATS bucket of several copies, and what lists or prunes its records, is answered by one of the " +
			"copies, which may lag behind the leader. A record that was written a moment before could be missing: it was " +
			"not listed, not pruned, and told late",
		FoundBy: "the conformance kit on a busy machine, once in some hundred runs",
		Module:  "stores/natskv", File: "consumer.go",
		Old: "for c.pending > 0 || c.last < c.due {", New: "for c.pending > 0 {",
		Package: ".", Test: "TestReplicaThatLagsIsWaitedFor",
	},
}
