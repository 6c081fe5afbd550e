package postgres

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/tenure-go/tenure"
)

// LockID returns the ID of the advisory lock that an [Advisory] takes for an election unless [WithLockID] says
// otherwise: the first eight bytes of the SHA-256 of SCHEMA.TABLE/ELECTION, as a signed number. In SQL it is
//
//	SELECT ('x' || encode(substr(sha256(convert_to('public.tenure/billing', 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint
//
// A program that takes this lock with pg_try_advisory_lock keeps everybody from being elected, and a leader keeps the
// program from having the lock. The formula will not change.
func LockID(schema, table, election string) int64 {
	sum := sha256.Sum256([]byte(schema + "." + table + "/" + election))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// LockID returns the ID of the advisory lock of an election in this store.
func (a *Advisory) LockID(election string) int64 {
	if id, ok := a.config.locks[election]; ok {
		return id
	}
	return LockID(a.table.layout.schema, a.table.layout.name, election)
}

// claim notes for which election a lock is taken, and refuses it for a second one.
func (a *Advisory) claim(lock int64, election string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if other, ok := a.locks[lock]; ok && other != election {
		return collision(lock, election, fmt.Sprintf("election %q", other))
	}
	a.locks[lock] = election
	return nil
}

func collision(lock int64, election, other string) error {
	return tenure.Permanent(fmt.Errorf("the lock ID %d of election %q is that of %s, too: give one of them another, "+
		"WithLockID", lock, election, other))
}

// A session bears a name by which others recognize it: that it is ours, of which table, election and candidate, each
// by a hash, and at the end what of the election's name can be read by people.
const (
	brand       = "tenure/"
	tableMark   = 8
	electMark   = 8
	sessionMark = 16
	maxAppName  = 63
)

func digest(text string, length int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:length]
}

// badge is the application_name of the session that holds the lock of an election for a candidate's session.
func (a *Advisory) badge(election, session string) string {
	name := brand + digest(a.table.layout.channel, tableMark) + "/" + digest(election, electMark) + "/" +
		digest(session, sessionMark) + "/"
	readable := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, election)
	return name + readable[:min(len(readable), maxAppName-len(name))]
}

// holder is a session that has the lock.
type holder struct {
	pid       int
	name      string
	exclusive bool
}

// ours reports whether the session is of a store on the same table.
func (h holder) ours(a *Advisory) bool {
	return h.exclusive && strings.HasPrefix(h.name, brand+digest(a.table.layout.channel, tableMark)+"/")
}

// is reports whether the session is that of an election and of a candidate's session.
func (h holder) is(a *Advisory, election, session string) bool {
	return h.exclusive && h.name == a.badge(election, session)
}

// of reports whether the session is of the election.
func (h holder) of(a *Advisory, election string) bool {
	length := len(brand) + tableMark + 1 + electMark + 1
	return h.ours(a) && len(h.name) > length && h.name[:length] == a.badge(election, "")[:length]
}

func (h holder) String() string {
	return fmt.Sprintf("the session with PID %d, application %q", h.pid, h.name)
}
