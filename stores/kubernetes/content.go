package kubernetes

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/tenure-go/tenure"
)

// annotation is the key of what a Lease's own fields have no place for. Electors of client-go keep it: they write back
// the object that they have read, with another spec.
const annotation = "tenure-go.github.io/record"

// format is the number of the annotation's form.
const format = 1

// content is the annotation. Changing it means changing README.md.
type content struct {
	Format   int            `json:"tenure_lease"`
	Election string         `json:"election,omitempty"`
	Record   *tenure.Record `json:"record,omitempty"`
	Spec     seal           `json:"spec,omitzero"`
	Floor    uint64         `json:"floor,omitempty"` // in the Lease floorName alone
	// Write is random: the API server makes no new version of an update that changes nothing.
	Write string `json:"write"`
}

// before returns the record that a candidate has written last, an empty one if none has.
func (c content) before() tenure.Record { return value(c.Record) }

// contentOf reads the annotation. Of a Lease without one the content is empty.
func contentOf(lease *coordinationv1.Lease) (c content, err error) {
	text, ok := lease.Annotations[annotation]
	if !ok {
		return content{}, nil
	}
	err = json.Unmarshal([]byte(text), &c)
	switch {
	case err != nil:
	case c.Format == 0:
		err = errors.New("it has no field \"tenure_lease\"")
	case c.Format > format:
		err = fmt.Errorf("it has format %d, this version reads up to %d: upgrade tenure", c.Format, format)
	case c.Floor > tenure.MaxToken:
		err = fmt.Errorf("its floor %d is above the largest token", c.Floor)
	}
	if err != nil {
		return content{}, fmt.Errorf("its annotation %s is damaged or foreign: %w", annotation, err)
	}
	return c, nil
}

// annotate puts c into a Lease.
func annotate(lease *coordinationv1.Lease, c content) error {
	c.Format, c.Write = format, rand.Text()
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if lease.Annotations == nil {
		lease.Annotations = make(map[string]string)
	}
	lease.Annotations[annotation] = string(text)
	return nil
}

// snapshotOf returns what a Lease says of an election. floor is that of the namespace, for a Lease without annotation.
func snapshotOf(lease *coordinationv1.Lease, floor uint64) (tenure.Snapshot, error) {
	record, err := recordOf(lease, floor)
	if err != nil {
		return tenure.Snapshot{}, tenure.Permanent(fmt.Errorf("the Lease %q: %w", lease.Name, err))
	}
	return tenure.Snapshot{Version: versionOf(lease), Record: record}, nil
}

func recordOf(lease *coordinationv1.Lease, floor uint64) (tenure.Record, error) {
	c, err := contentOf(lease)
	switch {
	case err != nil:
		return tenure.Record{}, err
	case c.Record == nil:
		return translate(c, lease, floor)
	case leaseName(c.Election) != lease.Name:
		return tenure.Record{}, fmt.Errorf("its annotation is that of the election %q", c.Election)
	case c.Spec != sealOf(lease.Spec):
		return translate(c, lease, 0)
	}
	return c.Record.Clone(), nil
}

func versionOf(lease *coordinationv1.Lease) tenure.Version {
	return tenure.Version(lease.ResourceVersion)
}

// counter returns the resource version as the number that it is, 0 if it is none.
func counter(lease *coordinationv1.Lease) uint64 {
	n, err := strconv.ParseUint(lease.ResourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
