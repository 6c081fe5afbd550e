package dualleader

import "time"

// Fault is what befalls the leader of a history, or its server.
type Fault struct {
	// Name says what happens, for tables; ID is its short form, for files.
	ID, Name string
	// Beyond says why it is beyond what we promise, empty if it is not.
	Beyond string
	// Needs is what a library must allow for the fault to be put upon it; any of Or will do as well.
	Needs, Or Ability
	// Ours: it is put upon ours alone.
	Ours bool

	setup  func(*History)
	strike func(*History)
}

func (f *Fault) prepare(h *History) {
	if f.setup != nil {
		f.setup(h)
	}
}

// Befalls tells whether the fault can be put upon a library.
func (f *Fault) Befalls(p *Peer) bool {
	if f.Ours {
		return p.Can&OwnClock != 0
	}
	return f.Needs == 0 || p.Can&f.Needs != 0 || p.Can&f.Or != 0
}

// lease returns so many leases.
func (h *History) leases(n float64) time.Duration { return time.Duration(n * float64(h.lease)) }

// Faults are all, those beyond the promise last. Times are in leases, so that libraries with short ones and with long
// ones meet the same.
func Faults() []*Fault {
	faults := []*Fault{
		{ID: "none", Name: "none", strike: func(h *History) { h.Run(h.leases(4)) }},
		late("late-0.10", "a renewal's reply 0.10 leases late, then a partition", 0.10),
		late("late-0.33", "the same, 0.33 leases late", 0.327),
		late("late-0.66", "the same, 0.66 leases late", 0.66),
		late("late-0.90", "the same, 0.90 leases late", 0.90),
		{
			ID: "black-hole", Name: "a renewal's reply held for ever, then a black hole",
			strike: func(h *History) { h.snared(Forever) },
		},
		cut("requests-lost", "one-way partition: requests are lost", true, false),
		cut("replies-lost", "one-way partition: replies are lost", false, true),
		{ID: "slow", Name: "replies 0.2 leases late for two leases, then a partition", strike: slow},
		{
			ID: "one-identity", Name: "two processes with one identity",
			setup:  func(h *History) { h.nodes[1].Identity = h.nodes[0].Identity },
			strike: func(h *History) { h.Run(h.leases(5)) },
		},
		{ID: "drain", Name: "the leader is stopped, and its work returns 0.53 leases later", setup: drain, strike: stop},
		{
			ID: "pause", Name: "the leader is paused, or its machine suspended, for 1.5 leases", Needs: Freezes,
			strike: func(h *History) { h.pause(h.random.IntN(2) == 0, true) },
		},
		{ID: "wall", Name: "wall clocks step by up to an hour", Needs: OwnClock, Or: ServerWall, strike: steps},
		rates("rate-0.01", "clocks wrong by 1 %, and a partition", 0.01, ""),
		{ID: "deleted", Name: "the record is deleted by hand", strike: deleted},
		{ID: "restored", Name: "the store is restored from a backup of another's term", strike: restored},
	}
	return append(faults, beyond()...)
}

func beyond() []*Fault {
	return []*Fault{
		rates("rate-0.20", "clocks wrong by 20 %, and a partition", 0.20, "clocks may be wrong by 1 %"),
		{
			ID: "overrun", Name: "a partition, and work that returns 1.5 leases after it was told to",
			Beyond: "work that ignores its context for longer than the drain outlives its term",
			setup: func(h *History) {
				for _, n := range h.nodes {
					n.Lingers = h.leases(1.5)
				}
			},
			strike: func(h *History) { h.cut(true, true) },
		},
		{
			ID: "snapshot", Name: "the machine stands still for 1.5 leases, and all its clocks with it",
			Beyond: "no clock tells the process", Ours: true,
			strike: func(h *History) { h.pause(false, false) },
		},
		{
			ID: "clones", Name: "two copies of one machine's snapshot, with one random session",
			Beyond: "nothing tells the two apart", Ours: true,
			setup: func(h *History) {
				h.nodes[1].Identity, h.nodes[1].Seed = h.nodes[0].Identity, h.nodes[0].Seed
			},
			strike: func(h *History) { h.Run(h.leases(5)) },
		},
	}
}

func late(id, name string, d float64) *Fault {
	return &Fault{ID: id, Name: name, strike: func(h *History) { h.snared(h.leases(d)) }}
}

// snared waits for the leader's next renewal. Nothing but its reply passes from then on.
func (h *History) snared(late time.Duration) {
	link := h.nodes[h.Leader()].Link
	link.Snare(late)
	h.Run(h.leases(4))
	link.Heal()
	h.Run(h.leases(1))
}

func cut(id, name string, requests, replies bool) *Fault {
	return &Fault{ID: id, Name: name, strike: func(h *History) { h.cut(requests, replies) }}
}

func (h *History) cut(requests, replies bool) {
	link := h.nodes[h.Leader()].Link
	link.Cut(requests, replies)
	h.Run(h.leases(3))
	link.Heal()
	h.Run(h.leases(1))
}

func slow(h *History) {
	link := h.nodes[h.Leader()].Link
	link.Slow(h.leases(0.2))
	h.Run(h.leases(2))
	link.Cut(true, true)
	h.Run(h.leases(3))
	link.Heal()
	h.Run(h.leases(1))
}

func drain(h *History) {
	for _, n := range h.nodes {
		n.Drain, n.Lingers = h.leases(0.55), h.leases(0.53)
	}
}

func stop(h *History) {
	h.Stop(h.Leader())
	h.Run(h.leases(3))
}

// pause stops the leader's process. Its first answer is asked for before anything else of it goes on.
func (h *History) pause(mono, wall bool) {
	n := h.nodes[h.Leader()]
	n.Link.Freeze()
	n.Clock.Freeze()
	n.frozen.Store(true)
	h.Run(h.leases(1.5))
	n.Clock.Thaw(mono, wall)
	n.frozen.Store(false)
	h.Look()
	n.Link.Thaw()
	h.Run(h.leases(2))
}

// steps sets the wall clocks of processes and of the server, one after the other.
func steps(h *History) {
	for range 8 {
		clock := h.clock
		if i := h.random.IntN(processes + 1); i < processes {
			clock = h.nodes[i].Clock
		}
		clock.Step(h.upTo(2*time.Hour) - time.Hour)
		h.Run(h.leases(0.4))
	}
}

// rates lets the clocks of processes and server run too fast or too slow.
func rates(id, name string, e float64, beyond string) *Fault {
	return &Fault{
		ID: id, Name: name, Beyond: beyond, Needs: OwnClock, Or: ServerClock,
		setup: func(h *History) {
			h.clock.Run(1 + e)
			for _, n := range h.nodes {
				n.Clock.Run(1 + e*float64(2*h.random.IntN(2)-1))
			}
		},
		strike: func(h *History) { h.cut(true, true) },
	}
}

func deleted(h *History) {
	h.server.Delete()
	h.Run(h.leases(3))
}

// restored has a second process lead before the backup that was taken under the first is restored.
func restored(h *History) {
	restore := h.server.Backup()
	h.Stop(h.Leader())
	if !h.Await(h.leases(4), func() bool { i := h.Leader(); return i >= 0 && !h.gone[i] }) {
		h.outcome.Struck = false
		return
	}
	h.Run(h.upTo(h.lease) + h.lease/2)
	restore()
	h.Run(h.leases(3))
}
