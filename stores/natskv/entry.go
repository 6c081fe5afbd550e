package natskv

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
)

// Headers of messages in a bucket. The first is what all clients of the key-value store write and understand.
const (
	operationHeader = "KV-Operation" // DEL or PURGE marks a deleted key
	purgeOperation  = "PURGE"
	// prunedHeader, in the marker of a pruned record, is its token: whoever creates the record anew replaces the very
	// message that says above which token it has to start.
	prunedHeader = "Tenure-Pruned-Token"
)

// entry is the last message of a key. Without any message its sequence is zero.
type entry struct {
	key      string
	sequence uint64
	header   nats.Header
	data     []byte
	time     time.Time // by the server's clock
}

// exists reports whether the message is a value and not the marker of a deleted key.
func (e entry) exists() bool {
	return e.sequence != 0 && e.header.Get(operationHeader) == "" && e.header.Get(jetstream.MarkerReasonHeader) == ""
}

// Snapshot returns what callers see. floor is that of the whole bucket.
func (e entry) Snapshot(floor uint64) (tenure.Snapshot, error) {
	if !e.exists() {
		return tenure.Snapshot{Record: tenure.Record{Token: max(floor, e.pruned())}}, nil
	}
	record, err := decode(e.data)
	if err != nil {
		return tenure.Snapshot{}, tenure.Permanent(fmt.Errorf("the key %q is damaged or foreign: %w", e.key, err))
	}
	return tenure.Snapshot{Version: version(e.sequence), Record: record}, nil
}

// pruned returns the token of the record that was here, as far as its marker tells.
func (e entry) pruned() uint64 {
	token, err := strconv.ParseUint(e.header.Get(prunedHeader), 10, 64)
	if err != nil || token > tenure.MaxToken {
		return 0
	}
	return token
}

func decode(text []byte) (record tenure.Record, err error) {
	err = json.Unmarshal(text, &record)
	return record, err
}

func version(sequence uint64) tenure.Version { return tenure.Version(strconv.FormatUint(sequence, 10)) }
