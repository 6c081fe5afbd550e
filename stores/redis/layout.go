package redis

import (
	"fmt"
	"hash/fnv"
	"strconv"
)

// buckets is how many groups the elections of a store are dealt out to. All keys of a bucket share a hash tag, and so a
// slot: the floor lies beside the records that it binds, and a Cluster spreads the buckets over its masters. It is part
// of the format: processes that disagree on it would not see each other.
const buckets = 256

// layout names keys and channels.
type layout struct {
	prefix string
	db     int
}

// bucket returns the number of an election's bucket.
func bucket(election string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(election)) // never fails
	return int(h.Sum32() % buckets)
}

// keys returns those that a script on one election works on: the record, the floor and the set of names.
func (l layout) keys(election string) []string {
	b := bucket(election)
	return []string{l.record(election), l.floor(b), l.names(b)}
}

func (l layout) record(election string) string {
	return l.tag(bucket(election)) + ":election:" + election
}

// floor is the highest token that was ever pruned, in a key for each bucket.
func (l layout) floor(bucket int) string { return l.tag(bucket) + ":floor" }

// names is the set of the names of a bucket's elections. One that is not in it has no record; one that is need not
// have one.
func (l layout) names(bucket int) string { return l.tag(bucket) + ":elections" }

// channel is where the changes of an election are published. Channels belong to no database, so that the name has to.
func (l layout) channel(election string) string {
	return l.tag(bucket(election)) + ":changes:" + strconv.Itoa(l.db) + ":" + election
}

func (l layout) tag(bucket int) string { return fmt.Sprintf("%s:{%d}", l.prefix, bucket) }
