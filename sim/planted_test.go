package sim

// planted are bugs that are put into the protocol, or into the simulator's model of a store, one at a time; the checks
// have to catch each of them by the rules named. README.md has the same table.
var planted = []plantedBug{
	// The lease.
	{
		name: "lease of a bid counted from the reply", rules: "S1,S3", file: "standing.go",
		edits: []edit{{"m.term = term{token: t.token, lease: t.sent,", "m.term = term{token: t.token, lease: now,"}},
	},
	{
		name: "lease of a renewal counted from the reply", rules: "S1,S3", file: "leading.go",
		edits: []edit{{"	m.term.lease, m.term.fromGap = t.sent, false\n", "	m.term.lease, m.term.fromGap = now, false\n"}},
	},
	{
		name: "late reply taken for a win", rules: "S3", file: "standing.go",
		edits: []edit{{"if !m.willing(now) || now.Since(t.sent) >= m.cfg.Span() {", "if !m.willing(now) {"}},
	},
	{
		name: "trust not read from the clock", rules: "S1,S4", file: "machine.go",
		edits: []edit{{
			"return m.state == Leading && now.Since(m.term.lease) < m.cfg.Span()", "return m.state == Leading",
		}},
	},
	{
		name: "trust returns after it was refused", rules: "S4", file: "machine.go",
		edits: []edit{{"	case Distrust:\n", "	case Distrust:\n		if m.Trusted(now) {\n			break\n		}\n"}},
	},
	{
		name: "lease read from the monotonic clock alone", rules: "S1", file: "../clock/clock.go",
		edits: []edit{{
			"return max(r.Mono-then.Mono, r.Wall-then.Wall, r.Boot-then.Boot)", "return r.Mono - then.Mono",
		}},
	},
	{
		name: "no margin for the clocks' rates", rules: "S1,S3", file: "config.go",
		edits: []edit{{"return time.Duration(float64(c.TTL)*(1-c.ClockError)) - c.Grain", "return c.TTL - c.Grain"}},
	},
	{
		name: "no margin for the follower's clock", rules: "S1,S10", file: "config.go",
		edits: []edit{{"math.Ceil(float64(ttl)*c.ClockError)", "math.Ceil(0)"}},
	},
	{
		name: "no margin for the grain of the clocks", rules: "S3,S10", file: "config.go",
		edits: []edit{
			{"(1-c.ClockError)) - c.Grain", "(1-c.ClockError))"},
			{"c.ClockError)) + c.Grain", "c.ClockError))"},
		},
	},
	{
		name: "drain not taken off the trust", rules: "S3", file: "config.go",
		edits: []edit{{"return c.LeaseSpan() - c.Drain }", "return c.LeaseSpan() }"}},
	},

	// Whose record it is.
	{
		name: "renewal without owner check", rules: "S5", file: "learning.go",
		edits: []edit{{"if m.held() && !m.ours(s.Record) {", "if m.held() && s.Record.Vacant() {"}},
	},
	{
		name: "own record known by the ID", rules: "S6,S10", file: "standing.go",
		edits: []edit{{
			"return m.sight.newest.Record.Session == m.cfg.Session && m.sight.known",
			"return m.sight.newest.Record.Leader == m.cfg.ID && m.sight.known",
		}},
	},
	{
		name: "attempts of another session taken for own", rules: "S7", file: "learning.go",
		edits: []edit{
			{"	if r.Session != m.cfg.Session {\n", "	if r.Leader != m.cfg.ID {\n"},
			{"return r.Session == m.cfg.Session && r.Token == m.term.token", "return r.Leader == m.cfg.ID && r.Token == m.term.token"},
		},
	},
	{
		name: "term of another token taken for own", rules: "S1", file: "learning.go",
		edits: []edit{{
			"	case !m.held() && r.Token <= m.term.token:\n", "	case false:\n",
		}},
		more: []patch{{"calls.go", []edit{{"		m.attempts.disown(base.Record)\n", ""}}}}, // which catches most of it
	},
	{
		name: "released whosever it is", rules: "S10", file: "draining.go",
		edits: []edit{{"	if m.ownsIdleRecord() || ", "	if m.sight.newest.Exists() || "}},
	},

	// Unknown outcomes.
	{
		name: "unknown outcome taken as failure", rules: "S7", file: "calls.go",
		edits: []edit{{"	default:\n		m.reload = !m.held()", "	default:\n		m.attempts.dropLast()\n		m.reload = !m.held()"}},
	},
	{
		name: "unknown outcome taken as success", rules: "S1,S7", file: "calls.go",
		edits: []edit{{
			"	default:\n		m.reload = !m.held()",
			"	default:\n		if m.state == Standing && len(m.attempts.inFlight) > 0 {\n" +
				"			m.elect(now, m.attempts.inFlight[len(m.attempts.inFlight)-1])\n		}\n		m.reload = !m.held()",
		}},
	},
	{
		name: "doubt settled by a load that does not show the write", rules: "S7", file: "learning.go",
		edits: []edit{{"	case same:\n		m.landed(now, s.Record)\n", "	case same:\n		m.attempts.settle(Record{})\n"}},
	},
	{
		name: "one number for two attempts", rules: "S7", file: "attempts.go",
		edits: []edit{{"	a.count = max(a.count, r.Renewals) + 1 + fresh%Stride\n", "	a.count = r.Renewals + 1\n"}},
	},
	{
		name: "conflict taken as proof that another won", rules: "S7", file: "calls.go",
		edits: []edit{{
			"	m.sight.conflicted(done.base)\n", "	m.attempts.settle(Record{})\n	m.sight.conflicted(done.base)\n",
		}},
	},
	{
		name: "stop leaves a bid in doubt", rules: "S11", file: "draining.go",
		edits: []edit{{"return o.base, m.attempts.inDoubt() && o.at <= now.Mono", "return o.base, false"}},
	},
	{
		name: "done with a call in flight", rules: "S11", file: "draining.go",
		edits: []edit{{"	if m.leaving && !m.call.busy {\n", "	if m.leaving {\n"}},
	},
	{
		name: "pushes taken in when off", rules: "S11", file: "learning.go",
		edits: []edit{{"	if m.state == Off {\n		return // it was", "	if false {\n		return // it was"}},
	},

	// The wait.
	{
		name: "own TTL instead of the recorded one", rules: "S9,S1", file: "sight.go",
		edits: []edit{
			{
				"	return opening{s.since + c.Wait(ttl), s.newest, \"the leader was silent for a lease\"}",
				"	return opening{s.since + c.Wait(c.TTL), s.newest, \"the leader was silent for a lease\"}",
			},
		},
	},
	{
		name: "follower counts by the wall clock", rules: "S10,S1", file: "learning.go",
		edits: []edit{{"v := m.sight.observe(now.Mono, s, pushed)", "v := m.sight.observe(now.Wall, s, pushed)"}},
		more: []patch{{file: "standing.go", edits: []edit{
			{
				"	o := m.opening(now)\n	if now.Mono < o.at {\n		m.wakeAt(o.at)\n",
				"	o := m.opening(now)\n	if now.Wall < o.at {\n		m.wakeAt(now.Mono + o.at - now.Wall)\n",
			},
			{"return opening{now.Mono, m.sight.newest,", "return opening{now.Wall, m.sight.newest,"},
			{"	due, reason := m.nextLook()\n", "	due, reason := m.nextLook()\n	if m.watching {\n		due += now.Mono - now.Wall\n	}\n"},
		}}},
	},
	{
		name: "count not begun anew by a new mark", rules: "S10,S1", file: "sight.go",
		edits: []edit{{"known: true, newest: snap, since: now, freeSince: now,", "known: true, newest: snap, since: s.since, freeSince: now,"}},
	},
	{
		name: "count begun anew by a request", rules: "L2", file: "sight.go",
		edits: []edit{{
			"	s.newest, s.newestOut, s.hasGap = snap, false, false\n",
			"	if s.newest.Version != snap.Version {\n		s.since = now\n	}\n" +
				"	s.newest, s.newestOut, s.hasGap = snap, false, false\n",
		}},
	},
	{
		name: "vanished record taken as vacant", rules: "S13,S1", file: "sight.go",
		edits: []edit{{
			"	case s.newest.Exists() || floor < s.newest.Record.Token:\n		return lower\n",
			"	case s.newest.Exists():\n		return newer\n	case floor < s.newest.Record.Token:\n		return lower\n",
		}},
	},
	{
		name: "floor taken as proof of a proper deletion", rules: "S13", file: "sight.go",
		edits: []edit{{
			"	case s.newest.Exists() || floor < s.newest.Record.Token:\n		return lower\n",
			"	case floor < s.newest.Record.Token || floor == 0 && s.newest.Exists():\n		return lower\n",
		}},
	},
	{
		name: "lower record believed at once", rules: "S13", file: "sight.go",
		edits: []edit{{"	second := opening{s.gapSince + c.Wait(s.longest),", "	second := opening{s.gapSince,"}},
	},
	{
		name: "lower record waited for by its own TTL", rules: "S13", file: "sight.go",
		edits: []edit{{"	second := opening{s.gapSince + c.Wait(s.longest),", "	second := opening{s.gapSince + c.Wait(s.gap.Record.TTL),"}},
	},
	{
		name: "reserved seat taken by anybody", rules: "reserve", file: "sight.go",
		edits: []edit{
			{"case r.Vacant() && (r.Reserved == \"\" || r.Reserved == c.ID):", "case r.Vacant():"},
			{"	case r.Vacant():\n		return opening{s.since + c.Wait(ttl), s.newest, \"the seat was kept for a candidate that did not come\"}\n", ""},
		},
	},
	{
		name: "paused seat taken", rules: "requests", file: "standing.go",
		edits: []edit{{" && !m.sight.paused() &&", " &&"}},
	},

	// Tokens.
	{
		name: "token not raised by a bid", rules: "S2", file: "standing.go",
		edits: []edit{{"	token := m.sight.highest + 1\n", "	token := m.sight.highest\n"}},
	},
	{
		name: "token taken from the record alone", rules: "S2", file: "standing.go",
		edits: []edit{{"	token := m.sight.highest + 1\n", "	token := o.base.Record.Token + 1\n"}},
	},
	{
		name: "token not kept on release", rules: "S2", file: "draining.go",
		edits: []edit{{"	r.Leader, r.Session, r.Request, r.Reserved =", "	r.Token = 0\n	r.Leader, r.Session, r.Request, r.Reserved ="}},
	},
	{
		name: "largest token passed", rules: "S2", file: "standing.go",
		edits: []edit{{"	if token > MaxToken {\n", "	if token == 0 {\n"}},
	},

	// Work.
	{
		name: "release before the drain", rules: "S8,S1", file: "draining.go",
		edits: []edit{{"	case m.work == NoWork, m.work == HandedOut && left <= 0:", "	case m.work != Unreported || left > 0:"}},
	},
	{
		name: "handed-out leadership released at once", rules: "S8,S1", file: "draining.go",
		edits: []edit{{"m.work == HandedOut && left <= 0:", "m.work == HandedOut:"}},
	},
	{
		name: "handed-out leadership loses its drain to a pause", rules: "S8", file: "draining.go",
		edits: []edit{{"	if m.term.release && m.work == Running {\n", "	if m.term.release {\n"}},
	},
	{
		name: "overrun work forgotten", rules: "S8", file: "standing.go",
		edits: []edit{{"	if m.work != NoWork {\n		m.state = Overrun\n	}\n", "	m.work = NoWork\n"}},
	},
	{
		name: "released when work has overrun", rules: "S8", file: "draining.go",
		edits: []edit{{"	case left <= 0:\n		m.overran()\n", "	case left <= 0:\n		m.drained(now)\n"}},
	},

	// Requests and fields.
	{
		name: "request to an earlier term obeyed", rules: "requests", file: "leading.go",
		edits: []edit{{"	case r.Request.Token == m.term.token && r.Request.Token != 0:\n", "	case r.Request.Token != 0:\n"}},
	},
	{
		name: "request lost by a renewal", rules: "requests", file: "leading.go",
		edits: []edit{{"		r.Reserved = \"\"\n", "		r.Request = Request{}\n"}},
	},
	{
		name: "write starts from another snapshot than it replaces", rules: "fields", file: "calls.go",
		edits: []edit{{"m.emit(Effect{Do: Write, Base: base,", "m.emit(Effect{Do: Write, Base: Snapshot{Version: base.Version, Origin: m.sight.gap.Origin},"}},
	},
	{
		name: "TTL that the store changed not noticed", rules: "S9", file: "learning.go",
		edits: []edit{{"	case m.state == Standing && r.TTL != m.cfg.TTL:\n", "	case false:\n"}},
		more:  []patch{{file: "leading.go", edits: []edit{{"	case m.ours(r) && r.TTL != m.cfg.TTL:\n", "	case false:\n"}}}},
	},
	{
		name: "configuration without room for a lost renewal", rules: "S12", file: "config.go",
		edits: []edit{{"	if c.RenewEvery+2*c.CallTimeout > c.Span() {", "	if c.RenewEvery+c.CallTimeout > c.Span() {"}},
	},

	// Liveness.
	{
		name: "one failed renewal ends the term", rules: "L3", file: "calls.go",
		edits: []edit{{"	if m.state == Leading && m.cfg.MaxFailures > 0 && m.failures >= m.cfg.MaxFailures {", "	if m.state == Leading {"}},
	},
	{
		name: "one stale look ends the term", rules: "L3", file: "leading.go",
		edits: []edit{
			{"	case m.term.doubts < 3 || now.Mono-m.term.doubtedAt < m.cfg.TTL/5:\n		m.lookAgain(now)\n", ""},
			{"	case m.secure(now, s):\n		m.term.fromGap = true\n", ""},
		},
	},
	{
		name: "no pause between calls that fail", rules: "L5", file: "calls.go",
		edits: []edit{{"	m.pause(now, max(wait, asked, 0))\n", "	_, _ = wait, asked\n"}},
	},
	{
		name: "silent watch never found out", rules: "L4", file: "standing.go",
		edits: []edit{{"	due = m.sight.heard + m", "	due = never>>1 + m"}},
	},
	{
		name: "silent watch not set up anew", rules: "L4", file: "learning.go",
		edits: []edit{{"	m.emit(Effect{Do: Rewatch, Reason: \"the record changed and the watch did not tell\"})\n", ""}},
	},
	{
		name: "polls although the watch delivers", rules: "L5", file: "standing.go",
		edits: []edit{
			{"	if !m.watching && m.pollAt < due {\n", "	if m.pollAt < due {\n"},
		},
	},
	{
		name: "gives up after a failed load", rules: "L4", file: "calls.go",
		edits: []edit{{
			"		if m.aim == try && m.state == Standing {\n			m.beginRelease(now)\n		}\n	}\n	m.pollAt",
			"		if m.state == Standing {\n			m.aim = leave\n			m.beginRelease(now)\n		}\n	}\n	m.pollAt",
		}},
	},
	{
		name: "never stands again after resigning", rules: "L4", file: "standing.go",
		edits: []edit{{"= m.term.token, now.Mono+m.cfg.TTL\n", "= m.term.token, now.Mono+1000*m.cfg.TTL\n"}},
	},
	{
		name: "own record that is gone bid for for ever", rules: "L4", file: "standing.go",
		edits: []edit{{" && m.sight.known && !m.sight.gone()\n", " && m.sight.known\n"}},
	},
	{
		name: "vacant seat left until the lease would have ended", rules: "L1", file: "sight.go",
		edits: []edit{{
			"		return opening{s.since, s.newest, \"the seat is vacant\"}\n",
			"		return opening{s.since + r.TTL, s.newest, \"the seat is vacant\"}\n",
		}},
	},
	{
		name: "rejected bidders load although the push is on its way", rules: "L5", file: "calls.go",
		edits: []edit{{"	case m.watching && done.purpose == Bid:\n", "	case m.watching && done.purpose == Renew:\n"}},
	},
	{
		name: "looks too seldom to see that the leader lives", rules: "L5", file: "standing.go",
		edits: []edit{{"		return min(m.cfg.PollEvery, max(r.TTL/3*2, minPoll))\n", "		return m.cfg.PollEvery\n"}},
	},
	{
		name: "a try goes on trying", rules: "L5", file: "standing.go",
		edits: []edit{{"	if m.aim == try && m.tried {\n", "	if false {\n"}},
	},
	{
		name: "a candidacy for one term ends without one", rules: "L4", file: "draining.go",
		edits: []edit{{" || m.aim == standOnce && !m.led {\n", " {\n"}},
	},
	{
		name: "a pause eats the time for another renewal", rules: "L3", file: "calls.go",
		edits: []edit{{"		wait = min(wait, m.patience(now)) - (now.Mono - done.sent)\n", "		wait = m.cfg.TTL / 3\n"}},
	},
	{
		name: "bids again at once after resigning", rules: "reserve", file: "standing.go",
		edits: []edit{{" && !m.standingOff(now)\n", "\n"}},
	},
	{
		name: "leads on when unhealthy", rules: "health", file: "leading.go",
		edits: []edit{
			{"	case !m.healthy:\n		m.end(now, Sick, \"the health check failed\")\n", ""},
			{"	m.healthy, m.judged = false, true\n	m.end(now, Sick, \"the health check failed\")\n", "	m.healthy, m.judged = false, true\n"},
		},
	},
	{
		name: "elected when unhealthy", rules: "health", file: "standing.go",
		edits: []edit{{"	return m.healthy && m.work", "	return m.work"}},
		more:  []patch{{file: "leading.go", edits: []edit{{"	case !m.healthy:\n		m.end(now, Sick, \"the health check failed\")\n", ""}}}},
	},
	{
		name: "leads on when revoked", rules: "revoking", file: "learning.go",
		edits: []edit{{"	if s.Revoked && m.ours(s.Record) {", "	if false {"}},
	},
	{
		name: "successor forgotten", rules: "reserve", file: "leading.go",
		edits: []edit{{"	m.term.keepFor = to\n", ""}},
	},
	{
		name: "abandoned seat waited for", rules: "L2", file: "sight.go",
		edits: []edit{{"	case s.newest.Abandoned:\n", "	case false:\n"}},
	},
	{
		name: "timer sleeps until the lease ends by the monotonic clock", rules: "S4", file: "leading.go",
		edits: []edit{{"	m.wakeAt(now.Mono + min(left, m.cfg.TTL/20))\n	timeout", "	m.wakeAt(now.Mono + left)\n	timeout"}},
	},

	{
		name: "the store's wish for a pause ignored", rules: "L5", file: "calls.go",
		edits: []edit{{"	m.pause(now, max(wait, asked, 0))\n", "	_ = asked\n	m.pause(now, max(wait, 0))\n"}},
	},
	{
		name: "bids again over what a conflict disproved", rules: "L5", file: "sight.go",
		edits: []edit{{"	if s.proved(snap) {\n", "	if false {\n"}},
	},
	{
		name: "a try leaves the seat although it is free", rules: "L1", file: "standing.go",
		edits: []edit{{"	if m.aim != try && o.base", "	if m.aim != stand && o.base"}},
	},
	{
		name: "work that ignores its context keeps the seat", rules: "S8", file: "draining.go",
		edits: []edit{{"	case left <= 0:\n		m.overran()\n", ""}},
	},
	{
		name: "bids again at once after too many failures", rules: "reserve", file: "calls.go",
		edits: []edit{{"\"too many failures in a row\")\n		m.standOff(now)\n", "\"too many failures in a row\")\n"}},
	},

	// What an attack from outside has found.
	{
		name: "copies share the numbers of their attempts", rules: "S1", file: "attempts.go",
		edits: []edit{{" + 1 + fresh%Stride\n", " + 1\n"}},
	},
	{
		name: "record of a copy taken for own", rules: "S1", file: "learning.go",
		edits: []edit{{"		m.copied(now)\n", ""}},
	},
	{
		name: "a copy keeps its session", rules: "S10", file: "learning.go",
		edits: []edit{{"	m.cfg.Session = fmt.Sprintf(\"%016x%016x\", m.fresh.Uint64(), m.fresh.Uint64())\n", "	_ = fmt.Sprint()\n"}},
	},
	{
		name: "own record taken for that of a copy", rules: "S7", file: "attempts.go",
		edits: []edit{{"return slices.Contains(a.numbers, number)", "return len(a.numbers) > 0 && a.numbers[len(a.numbers)-1] == number && slices.Contains(a.numbers, number)"}},
	},
	{
		name: "drain counted by the clock that ran furthest", rules: "S8,S1", file: "draining.go",
		edits: []edit{{"return m.cfg.Drain - (now.Mono - m.term.ended.Mono)", "return m.cfg.Drain - now.Since(m.term.ended)"}},
	},
	{
		name: "TTL shortened by hand shortens the wait", rules: "S10,S1", file: "sight.go",
		edits: []edit{{"		s.ttl = max(s.ttl, snap.Record.TTL)\n", "		s.ttl = snap.Record.TTL\n"}},
	},
	{
		name: "TTL that overflows", rules: "S10,S1", file: "machine.go",
		edits: []edit{{"	in.Snapshot.Record.TTL = min(max(in.Snapshot.Record.TTL, 0), MaxTTL)\n", ""}},
	},
	{
		name: "word of an interrupted watch puts off the poll", rules: "L1", file: "learning.go",
		edits: []edit{
			{"	if !m.watching {\n		return\n	}\n	m.watching, m.watchEnds", "	m.watching, m.watchEnds"},
			{"	if now.Mono-m.watchSince >= m.pollEvery() {\n", "	{\n"},
		},
	},
	{
		name: "lagging reads depose a leader", rules: "L3", file: "leading.go",
		edits: []edit{
			{"m.term.doubts < 3 || now.Mono-m.term.doubtedAt < m.cfg.TTL/5:", "m.term.doubts < 2:"},
			{"	case m.secure(now, s):\n		m.term.fromGap = true\n", ""},
		},
		more: []patch{{file: "learning.go", edits: []edit{
			{"	case m.secure(now, s):\n		m.sight.wentBack(now.Mono, s)\n		m.term.fromGap = true\n", ""},
		}}},
	},
	{
		name: "a leader obeys a long pause that the store asks for", rules: "L3", file: "calls.go",
		edits: []edit{{"		asked = min(asked, m.spare(now))\n", ""}},
	},
	{
		name: "no end of calls with a back-off that does not grow", rules: "L5", file: "calls.go",
		edits: []edit{{"		wait = max(wait, m.cfg.TTL/10)\n", ""}},
	},
	{
		name: "no bound on polls where a TTL is none", rules: "L5", file: "standing.go",
		edits: []edit{{"r.TTL > 0 && (!r.Vacant()", "(!r.Vacant()"}, {"max(r.TTL/3*2, minPoll)", "r.TTL/3*2"}},
	},
	{
		name: "health remembered from the candidacy before", rules: "health", file: "standing.go",
		edits: []edit{{"	m.healthy, m.judged = !m.cfg.HealthChecked, !m.cfg.HealthChecked\n", "	m.judged = true\n"}},
	},
	{
		name: "stop waits for a store that is away", rules: "L4", file: "draining.go",
		edits: []edit{{"	m.releaseEnds = now.Add(m.cfg.TTL / 2)\n", "	m.releaseEnds = now.Add(1000 * m.cfg.TTL)\n"}},
	},

	// The store.
	{
		name: "version that recurs after a deletion", rules: "S5", file: "../../sim/store.go",
		edits: []edit{{"	st := s.add(nil, o)\n", "	st := s.add(nil, o)\n	s.versions = 0\n"}},
	},
	{
		name: "compare-and-swap that does not compare", rules: "S1,S5", file: "../../sim/store.go",
		edits: []edit{{"	if old.version != c.base || ", "	if "}},
	},
}
