// Package sqlstore keeps elections in two tables of any SQL database that database/sql reaches, with the program's own
// driver: PostgreSQL, MySQL, MariaDB and SQLite, and others by a [Dialect] of one's own.
//
//	db, err := sql.Open("mysql", "user:password@tcp(db.example:3306)/app?interpolateParams=true")
//	if err != nil {
//		return err
//	}
//	store, err := sqlstore.New(db, sqlstore.MySQL{})
//	if err != nil {
//		return err
//	}
//	if err := store.Migrate(ctx); err != nil {
//		return err
//	}
//	candidate, err := tenure.New(store, "billing")
//
// Programs that use pgx have a richer store for PostgreSQL in the module stores/postgres, which pushes changes. This
// one cannot: candidates poll, with one statement for each poll.
//
// # Guarantees
//
// A swap is one statement in a transaction of its own, with the expected version in its WHERE clause. So it is atomic
// whatever runs beside it, under every isolation level, and it needs no lock that outlives it: no GET_LOCK, no advisory
// lock, no session. Pools, proxies and transaction poolers may be between the program and the database. How strong the
// guarantee is depends on what the database does with commits that it has acknowledged; [Store.Guarantee] asks it.
//
// A version is made of a counter and a random number, new with each write, so that it never recurs: neither after a
// deletion, nor after a fail-over that took a write back, nor when a record reads as it did before. That also makes
// every write change its row, so that it does not matter whether the driver counts rows as found or as changed.
//
// No clock of the database takes part in any decision, but that of Prune about what is unused.
//
// # Non-guarantees
//
// A replica that is promoted without the last writes, and a restored backup, can make tokens fall for those who never
// saw the higher ones. Reads must go to the primary: a pool that sends them elsewhere makes candidates slow, and hides
// wins from them, though it makes no two of them leaders. A connection with autocommit off, or with the isolation level
// READ UNCOMMITTED, is none to elect leaders with, and is graded so. SQLite is for the processes of one host.
//
// Who may write to the tables can do anything.
package sqlstore
