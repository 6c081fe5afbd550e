// Package ledger stands for whatever the work of a leader changes. It is a directory with a file for each entry, which
// any number of processes in any language write to, and it does what every resource should that a leader writes to: it
// refuses an entry of a deposed leader by itself, whatever that leader believes.
//
// It does so without a lock, which a frozen process would keep: entries are numbered without gaps, and whoever writes
// has read all entries before its own. If a newer leader has written meanwhile, then the number is taken.
//
// It guarantees nothing if files are removed by hand, or if the directory is on a file system without hard links.
package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrStale: an entry of a newer term is there, so that the writer's term is over.
var ErrStale = errors.New("ledger: a newer leader has written")

// Entry is one line of the ledger.
type Entry struct {
	// Token is the fencing token of the term under which it was written. From one entry to the next it never falls.
	Token uint64
	// By is who wrote it, a word.
	By string
	// Text is what for, on one line.
	Text string
}

// Ledger is a writer of the ledger in a directory. It is for one goroutine at a time.
type Ledger struct {
	dir  string
	next int    // the first number that was free when last looked
	mark uint64 // the highest token seen
}

// Open returns a writer of the ledger in dir, which it makes if need be.
func Open(dir string) (*Ledger, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("ledger: opening: %w", err)
	}
	return &Ledger{dir: dir, next: 1}, nil
}

// Append writes an entry behind all others. The error wraps [ErrStale] if one of them has a higher token.
func (l *Ledger) Append(e Entry) error {
	draft, err := l.draft(e)
	if err != nil {
		return fmt.Errorf("ledger: appending: %w", err)
	}
	defer func() { _ = os.Remove(draft) }() // one that stays is in nobody's way
	for {
		if err := l.catchUp(); err != nil {
			return err
		}
		if e.Token < l.mark {
			return fmt.Errorf("%w: token %d comes after %d", ErrStale, e.Token, l.mark)
		}
		// A link appears with all its content or not at all, and never in the place of another file.
		err := os.Link(draft, l.name(l.next))
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// Read returns all entries of the ledger in dir, none if there is no such directory.
func Read(dir string) ([]Entry, error) {
	l := &Ledger{dir: dir, next: 1}
	var all []Entry
	for {
		e, err := l.read(l.next)
		if errors.Is(err, fs.ErrNotExist) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, e)
		l.next++
	}
}

// catchUp reads what was written since it was last called.
func (l *Ledger) catchUp() error {
	for {
		e, err := l.read(l.next)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		l.mark = max(l.mark, e.Token)
		l.next++
	}
}

func (l *Ledger) draft(e Entry) (name string, err error) {
	f, err := os.CreateTemp(l.dir, "draft-*")
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(f, "%d %s %s\n", e.Token, e.By, e.Text)
	return f.Name(), errors.Join(err, f.Close())
}

func (l *Ledger) read(number int) (e Entry, err error) {
	text, err := os.ReadFile(l.name(number))
	if err != nil {
		return e, err
	}
	if _, err := fmt.Sscan(string(text), &e.Token, &e.By); err != nil {
		return e, fmt.Errorf("ledger: entry %d is damaged: %w", number, err)
	}
	if words := strings.SplitN(strings.TrimSpace(string(text)), " ", 3); len(words) == 3 {
		e.Text = words[2]
	}
	return e, nil
}

func (l *Ledger) name(number int) string { return filepath.Join(l.dir, fmt.Sprintf("%08d", number)) }
