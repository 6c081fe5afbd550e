// Package protocol is the election protocol as a pure state machine: time and inputs in, effects out. It has no
// clock, makes no calls and starts no goroutine, so that the library can drive it with real time and real replies and
// a simulator with millions of adversarial histories, each replayable from a seed.
//
//	           Stand, Try                    bid landed
//	Off ───────────────────▶ Standing ─────────────────────▶ Leading
//	 ▲                        ▲  ▲  │                           │ lease expired, deposed, revoked,
//	 │                        │  │  │ stopped with a            │ resigned, unhealthy, stopped
//	 │                        │  │  │ write in doubt            ▼
//	 │   vacated, or nothing  │  │  └────────────┐           Draining ── drain passed, work remains ──▶ Overrun
//	 │   left to vacate       │  │               ▼              │                                         │
//	 └────────────────────────┴──│──────── Releasing ◀──────────┘ work returned                           │
//	                             └────────────────────────────────────────────────────── work returned ───┘
//
// # Time
//
// D is the TTL as recorded in the store, e the bound on the error of a clock's rate.
//
//	trusted until = sent + D·(1-2e) - drain     sent: the reading before the attempt that landed was sent
//	lease end     = sent + D·(1-2e)             leader work has returned by then, or overran
//	open to others  first seen + D              first seen: the reading after the mark was first seen
//
// A leader's clock that is slow by e lets D·(1-2e)/(1-e) of true time pass, a follower's that is fast by e lets
// D/(1+e) pass, and (1-2e)(1+e) < 1-e. The mark was first seen after the attempt was sent, so leads never overlap.
// A leader counts by the clock that ran furthest, a follower by the monotonic clock alone: each errs on its safe side.
//
// # Order
//
// Within the history of a record (token, renewals) never falls, and rises with every write but those that only add or
// lift a request. So snapshots can be ordered whatever way they came, and one that is lower than what was seen before
// is either old, or the sign of a store that lost writes (see sight).
package protocol
