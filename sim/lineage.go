package sim

// excused reports whether two leaderships may overlap because the store lost writes: for those who knew no better
// there is no protection. x and y are the states of the record that they rest on. Their histories parted when the
// store went back; the one that came later is excused only if somebody in it bid, or renewed its own lease, who could
// not know of the other.
func (w *World) excused(x, y *state) bool {
	if x == nil || y == nil || ancestor(x, y) || ancestor(y, x) {
		return false
	}
	fork := x
	for fork != nil && !ancestor(fork, y) {
		fork = fork.parent
	}
	earlier, later := x, y
	if branchBegins(x, fork).applied > branchBegins(y, fork).applied {
		earlier, later = y, x
	}
	for st := later; st != fork && st != nil; st = st.parent {
		if tookOver(st) && !knew(st, earlier, fork) || st.origin == byRenewal && unaware(st, earlier, fork) {
			return true
		}
	}
	return false
}

// unaware reports whether the process that renewed had seen nothing of the lost branch when it sent the renewal: a
// leader whose successor's bid was lost, and whose record stands again.
func unaware(renewal, lost, fork *state) bool {
	a := &renewal.attempt
	for st := lost; st != fork && st != nil; st = st.parent {
		if g := a.session.sighting(st); g.known && g.firstAt <= a.sent.at {
			return false
		}
	}
	return true
}

// tookOver reports whether a state was written over a record that was not the writer's own.
func tookOver(st *state) bool {
	release := st.origin == byRelease && st.parent.owner != st.attempt.session
	return st.origin == byBid || release
}

// branchBegins returns the first state after fork in the history of st.
func branchBegins(st, fork *state) *state {
	for st.parent != fork && st.parent != nil {
		st = st.parent
	}
	return st
}

// knew reports whether the process that bid had what it takes to wait for the leader of a lost state: before the loss
// it was shown a state of the lost branch higher than what it bid from, a TTL no shorter, and what it bid from not
// before the loss. (A write that was late, or lands twice, may lift the record over what was lost.)
func knew(bid, lost, fork *state) bool {
	a := &bid.attempt
	if a.longest < lost.record.TTL || a.low < lost.lost {
		return false
	}
	for st := lost; st != fork && st != nil; st = st.parent {
		if g := a.session.sighting(st); g.known && g.firstAt <= st.lost && higher(st, bid.parent) {
			return true
		}
	}
	return false
}
