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
// D is the TTL as recorded in the store, e the bound on the error of the rates of this process's clocks, and g their
// grain: by how much a reading may lag behind.
//
//	trusted until = sent + D·(1-e) - g - drain    sent: the reading before the attempt that landed was sent
//	lease end     = sent + D·(1-e) - g            leader work has returned by then, or overran
//	open to others  first seen + D·(1+e) + g      first seen: the reading after the mark was first seen
//
// When D of true time has passed a leader's clock that is slow by e has counted D·(1-e) - g at least, so its lease ends
// within D. A follower's clock that is fast by e has counted D·(1+e) + g at most, so it waits for D at least. The mark
// was first seen after the attempt was sent, so leads never overlap. Each side allows for its own clocks alone: nobody
// has to know the e of anybody else. A leader counts by the clock that ran furthest, a follower by the monotonic clock
// alone: each errs on its safe side. By that clock runs every wait that protects others, also that of a drain which is
// waited for before the seat is given back.
//
// # Copies
//
// A snapshot that is restored twice makes two processes with one session and one token. Attempts are numbered by random
// steps, so that each of them knows the records that it has made. A record of its session with another number ends its
// term, and it takes another session (see attempts and copied).
//
// # Order
//
// Within the history of a record (token, renewals) never falls, and rises with every write but those that only add or
// lift a request. So snapshots can be ordered whatever way they came, and one that is lower than what was seen before
// is either old, or the sign of a store that lost writes (see sight).
package protocol
