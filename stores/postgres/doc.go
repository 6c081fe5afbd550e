// Package postgres keeps elections in a table of a PostgreSQL database, from version 13 on.
//
//	pool, err := pgxpool.New(ctx, "postgres://db.example/app")
//	if err != nil {
//		return err
//	}
//	store, err := postgres.New(pool)
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	if err := store.Migrate(ctx); err != nil { // once, or by the team's own migration tool
//		return err
//	}
//	candidate, err := tenure.New(store, "billing")
//
// [Open] takes a URL instead and makes the pool itself.
//
// # Guarantees
//
// A record is a row. One statement compares its version, replaces it and tells the others, in one transaction and one
// round trip. How far an acknowledged write can be relied upon is the server's matter; [Store.Guarantee] asks it.
//
// A version is a random UUID that the server makes with every write, so that none recurs: not after a deletion, nor
// after a fail-over that lost the last writes. All times that the server keeps are by its own clock, for people: no
// decision rests on them. A clock that is moved changes nothing but how long [Store.Prune] takes a record to be unused.
//
// A server that takes no writes (a standby, or one that was made read-only) is an error, and its connection is thrown
// away, so that a pool that knows several hosts finds the primary.
//
// # How soon others know
//
// Every change but a renewal is notified, and reaches a watch in another process with the notification and one
// look-up. Renewals of other processes are looked for every fifth of the TTL, all elections of a process with one
// statement. So a leader that died without a word is followed within
//
//	TTL + TTL/5 + two round trips
//
// of its last renewal; with [WithPollInterval] its interval takes the place of TTL/5, and with [WithPushedRenewals]
// nothing does. Notifications need a session at the server. Where a pooler gives sessions to several clients in turn,
// that is found out, nothing is listened to, and the polls find every change: then a vacancy is seen up to TTL/5 later
// too.
//
// # Non-guarantees
//
// A standby that is fed asynchronously and promoted has lost the last writes, and with them perhaps a term and its
// token; so has a backup that is restored. Who may write to the table can do anything: rows that are changed by hand
// need a new version (the README shows how), and rows that are deleted by hand lose their token. The state of a
// fail-over is PostgreSQL's: the store waits, and bids again, when a primary answers.
package postgres
