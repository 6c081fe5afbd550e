package etcd

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/tenure-go/tenure"
)

// writtenField is stored beside the fields of a record: when it was written, by the writer's wall clock. etcd itself
// keeps no time. Only [Store.Prune] reads it, and no caller sees it.
const writtenField = "etcd_written_at"

// entry is what a key holds. Without a value its revision is zero.
type entry struct {
	key      string
	revision int64
	value    []byte
}

func entryOf(kv *mvccpb.KeyValue) entry {
	return entry{key: string(kv.Key), revision: kv.ModRevision, value: kv.Value}
}

func (e entry) exists() bool { return e.revision != 0 }

// Snapshot returns what callers see. floor is that of the whole prefix.
func (e entry) Snapshot(floor uint64) (tenure.Snapshot, error) {
	if !e.exists() {
		return tenure.Snapshot{Record: tenure.Record{Token: floor}}, nil
	}
	record, _, err := decode(e.value)
	if err != nil {
		return tenure.Snapshot{}, tenure.Permanent(fmt.Errorf("the key %q is damaged or foreign: %w", e.key, err))
	}
	return tenure.Snapshot{Version: version(e.revision), Record: record}, nil
}

func version(revision int64) tenure.Version { return tenure.Version(strconv.FormatInt(revision, 10)) }

// encode returns the value of a record that is written now.
func encode(record tenure.Record, now time.Time) ([]byte, error) {
	stamp, err := json.Marshal(now.UTC().Truncate(time.Millisecond))
	if err != nil {
		return nil, err
	}
	record.Extra = maps.Clone(record.Extra)
	if record.Extra == nil {
		record.Extra = make(map[string]json.RawMessage, 1)
	}
	record.Extra[writtenField] = stamp
	return json.Marshal(record)
}

// decode returns a record and when it was written, which is zero if the value does not say.
func decode(value []byte) (record tenure.Record, written time.Time, err error) {
	if err := json.Unmarshal(value, &record); err != nil {
		return tenure.Record{}, time.Time{}, err
	}
	if stamp, ok := record.Extra[writtenField]; ok {
		if json.Unmarshal(stamp, &written) != nil {
			written = time.Time{}
		}
		if delete(record.Extra, writtenField); len(record.Extra) == 0 {
			record.Extra = nil
		}
	}
	return record, written, nil
}
