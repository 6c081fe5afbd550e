package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tenure-go/tenure"
)

const (
	// envelopeFormat is the version of the record file's form. It rises when an older reader could act wrongly.
	envelopeFormat = 1
	// maxFileSize bounds what is read and written, so that a foreign file is no burden.
	maxFileSize = 1 << 20
)

// envelope is the content of a record file. Changing it means changing README.md.
type envelope struct {
	Format   int            `json:"tenure_file"`
	Election string         `json:"election"`
	Version  tenure.Version `json:"version"`
	Lock     *lockName      `json:"term_lock,omitempty"`
	Record   *tenure.Record `json:"record"`
}

// lockName is how a record names the lock of its term. It is the store's own note, beside the record and not in its
// Extra: no candidate can lose it, and a record is returned as it was written.
type lockName struct {
	// File is the lock's name in the directory of term locks.
	File string `json:"file"`
	// Inode tells the file that the holder locked from one that was put in its place, by a restored backup for
	// example, and that nobody ever locked.
	Inode string `json:"inode"`
	// Boot is the boot of the kernel that keeps the lock, empty if the system cannot tell.
	Boot string `json:"boot,omitempty"`
}

// lockFile returns the name of the term lock, empty if there is none.
func (e envelope) lockFile() string {
	if e.Lock == nil {
		return ""
	}
	return e.Lock.File
}

// continues reports whether record belongs to the term that e holds.
func (e envelope) continues(record tenure.Record) bool {
	return !e.Record.Vacant() && e.Record.Session == record.Session && e.Record.Token == record.Token
}

// snapshot returns what callers see. Of a record that does not exist, e.Record holds the floor.
func (e envelope) snapshot(abandoned bool) tenure.Snapshot {
	return tenure.Snapshot{Version: e.Version, Record: *e.Record, Abandoned: abandoned}
}

func (e envelope) encode() ([]byte, error) {
	text, err := json.Marshal(e)
	switch {
	case err != nil:
		return nil, err
	case len(text) >= maxFileSize:
		return nil, fmt.Errorf("the record takes %d bytes, more than %d", len(text), maxFileSize)
	}
	return append(text, '\n'), nil
}

// decodeEnvelope reads the content of a record file that belongs to the stem.
func decodeEnvelope(text []byte, ofStem string) (envelope, error) {
	var e envelope
	if len(bytes.TrimSpace(text)) == 0 {
		return e, errors.New("it is empty")
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return e, err
	}
	return e, e.check(ofStem)
}

func (e envelope) check(ofStem string) error {
	_, versionErr := revision(e.Version)
	switch {
	case e.Format == 0:
		return errors.New(`it has no field "tenure_file"`)
	case e.Format > envelopeFormat:
		return fmt.Errorf("it has format %d, this version reads up to %d: upgrade tenure", e.Format, envelopeFormat)
	case stem(e.Election) != ofStem:
		return fmt.Errorf("it belongs to the election %q", e.Election)
	case versionErr != nil:
		return versionErr
	case e.Record == nil:
		return errors.New(`it has no field "record"`)
	case e.Lock != nil && filepath.Base(e.Lock.File) != e.Lock.File:
		return fmt.Errorf("it names a term lock %q outside of the store", e.Lock.File)
	}
	return nil
}

// nextVersion returns a version that no state of any record had before. The number counts an election's writes, for
// people; the random part is what keeps a version from recurring after the record was deleted, or after a power cut
// took back a write that nobody was told of.
func nextVersion(old tenure.Version) tenure.Version {
	number, err := revision(old)
	if err != nil {
		number = 0
	}
	return tenure.Version(fmt.Sprintf("%d-%016x", number+1, rand.Uint64()))
}

func revision(v tenure.Version) (uint64, error) {
	number, _, ok := strings.Cut(string(v), "-")
	n, err := strconv.ParseUint(number, 10, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("it has no proper version: %q", string(v))
	}
	return n, nil
}
