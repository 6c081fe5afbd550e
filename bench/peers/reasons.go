package peers

import "strings"

// because is why another is ahead, in what begins so. The first that fits counts; an empty other fits all.
type because struct{ other, what, why string }

var reasons = []because{
	{"rueidislock", "writes of", "It extends a lock every half of the lease, with an attempt less before the lease ends."},
	{"rueidislock-noloop", "writes of", `It extends a lock every half of the lease, with one attempt fewer before the lease
ends, and changes one expiry; a renewal of ours changes three fields of a hash, each of which Redis counts.`},
	{"redislock", "writes of", perField},
	{"redsync", "writes of", perField},
	{"rueidislock", "hand-over", lighter},
	{"rueidislock-noloop", "hand-over", lighter},
	{"rueidislock", "fail-over", halves},
	{"rueidislock-noloop", "fail-over", halves},
	{"redislock", "hand-over among", crowded},
	{"redsync", "hand-over among", crowded},
	{"client-go-over-redis", "hand-over among", crowded},
	{"pglock", "hand-over among", crowded},
	{"etcd-concurrency", "hand-over", queued},
	{"etcd-concurrency", "writes of", `A keep-alive makes no write: the member that leads notes it in its memory, and
counts all leases anew when another one comes to lead. A renewal of ours is a record that a majority has synced, so that
each follower counts the lease by its own clock, whatever the members do.`},
	{"client-go", "hand-over among", crowded},
	{"pglock", "requests of a follower", `It looks once a lease. Ours look five times, by one statement of a process for
all its elections: so a death is followed within 1.2 leases at the latest, and not within 2; and of a release they are
told.`},
	{"nest-leader-election", "", `Its lease is 15 s whatever is configured, and it looks or renews every 10 s: a death is
followed after three to four leases.`},
	{"", "requests of a leader, default leases", longer},
	{"", "requests of a follower, default leases", longer},
	{"", "writes of a leader, default leases", longer},
	{"", "fail-over", `The dead leader had used more of its lease by chance: it lives on for up to a third of a lease after
a renewal, and the median of a few deaths says no more.`},
}

const (
	perField = "They change one expiry; a renewal of ours changes three fields of a hash, each of which Redis counts."
	lighter  = `Both take a release and a bid, two round trips. Theirs delete a key and set it; ours are scripts that
compare versions, keep the token, and tell every candidate who leads now, and the work is ended before the release.
Where a network is in between, the round trips are what counts.`
	halves = `It renews every half of the lease, ours every third: at a random moment less of a dead leader's lease is
left, and a living one has an attempt less to keep it.`
	crowded = `The next of n followers that look every so often looks after an n-th of that, so that many of them are
quick; they pay for it all the time. Ours are told, all at once, and on two cores the winner waits for the bids of the
others.`
	queued = `Its followers queue, each with a key and a lease of its own: a release, one write, is all there is to wait
for, however many wait, and one of them alone is told. Ours are all told, and bid: a second write, synced after the
first, which decides who leads and under which token. For that a follower of ours has nothing to keep alive.`
	longer = "Its default lease is longer, and a death is followed the later for it; see equal leases."
)

// unexplained stands where nobody has said why, so that it is seen.
const unexplained = "**not explained yet**"

func reason(l lead) string {
	for _, b := range reasons {
		if (b.other == "" || b.other == l.Other) && strings.HasPrefix(l.What, b.what) {
			return strings.ReplaceAll(b.why, "\n", " ")
		}
	}
	return unexplained
}
