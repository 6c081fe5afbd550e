// Package tenureclientgo lets Kubernetes controllers run their election on any tenure store: those whose election is
// client-go's, by a [Lock], and those that can do without it, by a [Runner].
//
//	lock, err := tenureclientgo.NewLock(store, "my-controller", hostname)
//	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{Lock: lock, …})
//
//	manager.Options{LeaderElection: true, LeaderElectionResourceLockInterface: lock, …} // controller-runtime
//
//	runner, err := tenureclientgo.NewRunner(candidate, work) // better: a candidate's guarantees
//
// # What a lock adds to client-go's elector
//
// Electors and plain candidates on one election exclude each other: both keep the same record, and each waits for the
// TTL that the other one has recorded. Tokens rise with every change of holder. Two processes with one identity never
// both lead, since the lock tells them apart by a random session. A release or a renewal touches only the lock's own
// record. An answer that comes too late counts as a failure ([WithCallTimeout]): client-go counts its deadline from the
// answer, everybody else from the write. With
//
//	RenewDeadline + RetryPeriod + call timeout + the time that the work needs to stop <= 0.98 * LeaseDuration
//
// the elector has given up before anybody else begins, as long as its process runs. With client-go's usual 15 s, 10 s
// and 2 s, and the default call timeout of 2 s, 0.7 s are left for the work to stop.
//
// # What it cannot add
//
//   - LeaderElector.IsLeader reads no clock. A process that was paused or suspended past its lease answers yes when it
//     wakes, and its work goes on until the elector notices. Where that matters, send the token ([Lock.Token]) along
//     and have it checked, or use a [Runner].
//   - The work's context ends when the elector gives up, but nobody waits for the work: with ReleaseOnCancel the seat
//     is free at once. The elector is started again by nobody.
//   - An elector cannot be asked: requests to resign or to transfer the seat stay in the record unheeded, and a pause
//     takes effect only once the elector has given up its seat.
//   - It polls, every RetryPeriod and up to 2.2 times that, so that a hand-over takes as long.
//   - LeaseDuration counts in whole seconds: client-go drops the rest. Coordinated elections are not supported.
package tenureclientgo
