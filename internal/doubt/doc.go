// Package doubt keeps the writes of which a store does not know whether they were made, for databases that show what
// no synchronous standby has.
//
// In PostgreSQL a commit that waits for a standby is visible to nobody, until the wait is given up: the caller's time
// is over and the driver cancels what runs, somebody ends the session, or the server is restarted. From then on
// everybody sees what no standby may have, and what is gone when one is promoted. Whoever has to know whether its own
// write was made must not believe that sight. Everybody else may: a record that is seen in vain delays others, and a
// write upon it is acknowledged only when the standby has both.
package doubt
