// Package fence makes a resource refuse the writes of a leader whose term is over, whatever that leader believes.
//
// A lease ends the term of a leader that looks at its clock. It cannot stop a write that is already on its way, nor
// work that ignores its context, nor a virtual machine that was stopped with all of its clocks. Only the resource can,
// if it keeps the highest fencing token that it has accepted, its mark, and refuses lower ones. Comparing and writing
// have to be one atomic step of the resource, which this package does for SQL databases and for object stores.
//
// # SQL
//
// [Guard.Advance] raises the mark within the transaction that does the work:
//
//	tx, err := db.BeginTx(ctx, nil)
//	if err != nil {
//		return err
//	}
//	defer tx.Rollback()
//	if err := guard.Advance(ctx, tx, "invoices", "billing", term.Token); err != nil {
//		return err // fence.ErrStale: a newer leader has been here
//	}
//	// … the work, in the same transaction …
//	return tx.Commit()
//
// The mark stays locked until the transaction ends. So of two leaders one waits for the other: if the newer one is
// first, the older one is refused; if the older one is first, all of its transaction is committed before the newer
// one's begins to work. Transactions of one resource run one after the other for that; name resources as finely as
// they are independent, or give each row its own mark with [Guard.AdvanceRow].
//
// It works under every isolation level, since the raising statement sees and locks the newest committed mark; what
// differs is how a transaction with an old snapshot is refused. The README has the table. In all of them, call Advance
// first: what a transaction has read before may be older than its turn.
//
// # Object stores
//
// [Put] writes an object with the token in its metadata, on the condition that the object has not changed since its
// mark was compared. [Stamp] and [ReadMark] are the parts of it for those who make the requests themselves.
//
// # Non-guarantees
//
// A guard protects only against writers that use it: each one has to, for every write. A mark is as durable as the
// database that holds it. A new election under an old name that was deleted with its token, by hand or with a restored
// backup, has its tokens refused until they pass the mark.
package fence
