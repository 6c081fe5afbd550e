package etcd

import (
	"strings"

	"github.com/tenure-go/tenure"
)

// names are those of the keys under a prefix. A key may be any bytes, so that an election's name stands for itself.
type names struct{ prefix string }

func (n names) elections() string { return n.prefix + "elections/" }

func (n names) key(election string) string { return n.elections() + election }

// floor is the key of the floor of [Store.Prune].
func (n names) floor() string { return n.prefix + "floor" }

// electionOf returns the election whose record a key holds, if it is the key of one.
func (n names) electionOf(key string) (election string, ok bool) {
	election, ok = strings.CutPrefix(key, n.elections())
	return election, ok && tenure.CheckElection(election) == nil
}
