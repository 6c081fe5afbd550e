package leaderhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"github.com/tenure-go/tenure"
)

// FileMark is a [Mark] in a file, for one process. A raised mark is synced to the disk before it counts, and a crash at
// any moment leaves the old file or the new one. It is safe for concurrent use.
type FileMark struct {
	path string
	lock *os.File

	mu    sync.RWMutex
	marks map[string]uint64 // as the file holds them for certain
	open  bool
}

// marksFile is the file's content.
type marksFile struct {
	Format int               `json:"tenure_marks"`
	Marks  map[string]uint64 `json:"marks"`
}

// OpenFileMark opens the file at path, which need not exist yet; its directory must. A file that is damaged is an error
// and is not touched. Where the system has flock a second process is refused, by the file beside it that ends in
// ".lock"; elsewhere it is up to you that there is only one.
func OpenFileMark(path string) (*FileMark, error) {
	lock, err := lockBeside(path)
	if err != nil {
		return nil, fmt.Errorf("leaderhttp: locking the marks %s: %w", path, err)
	}
	marks, err := readMarks(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("leaderhttp: reading the marks: %w", err), lock.Close())
	}
	return &FileMark{path: path, lock: lock, marks: marks, open: true}, nil
}

// Close lets go of the file. Raise fails from then on. A second Close does nothing.
func (m *FileMark) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.open {
		return nil
	}
	m.open = false
	return m.lock.Close()
}

// Raise implements [Mark].
func (m *FileMark) Raise(ctx context.Context, election string, token uint64) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if highest, enough, err := m.look(election, token); enough || err != nil {
		return highest, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.open {
		return 0, errMarkClosed
	}
	if m.marks[election] < token {
		raised := maps.Clone(m.marks)
		raised[election] = token
		if err := writeMarks(m.path, raised); err != nil {
			return 0, fmt.Errorf("leaderhttp: raising the mark of %q to %d: %w", election, token, err)
		}
		m.marks = raised
	}
	return m.marks[election], nil
}

var errMarkClosed = errors.New("leaderhttp: the marks are closed")

// look is the way of almost every request: the mark is high enough, and nothing has to be written.
func (m *FileMark) look(election string, token uint64) (highest uint64, enough bool, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if !m.open {
		return 0, false, errMarkClosed
	}
	highest = m.marks[election]
	return highest, highest >= token, nil
}

func readMarks(path string) (map[string]uint64, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]uint64{}, nil
	}
	if err != nil {
		return nil, err
	}
	content := marksFile{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&content); err != nil {
		return nil, fmt.Errorf("%s holds no marks, or is damaged: %w", path, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s holds more than marks", path)
	}
	return content.Marks, content.check(path)
}

func (f marksFile) check(path string) error {
	if f.Format != 1 || f.Marks == nil {
		return fmt.Errorf("%s holds no marks of format 1", path)
	}
	for election, token := range f.Marks {
		if token == 0 || token > tenure.MaxToken {
			return fmt.Errorf("%s holds an impossible mark of %q: %d", path, election, token)
		}
	}
	return nil
}

// writeMarks replaces the file by one that was synced before, and syncs the directory.
func writeMarks(path string, marks map[string]uint64) error {
	text, err := json.Marshal(marksFile{1, marks})
	if err != nil {
		return err
	}
	temporary := path + ".tmp" // one process, one writer at a time
	if err := writeSynced(temporary, append(text, '\n')); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func writeSynced(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
