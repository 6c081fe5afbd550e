package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/certainty"
)

// Names in a store's directory. README.md describes them.
const (
	storeFile   = "store.json"
	storeLock   = "store.lock"
	electionDir = "elections"
	lockDir     = "locks"
	termDir     = "terms"

	recordSuffix = ".json"
	tempSuffix   = ".tmp"
	lockSuffix   = ".lock"
)

// layout makes the paths of a store's files.
type layout string

func (l layout) storeFile() string         { return filepath.Join(string(l), storeFile) }
func (l layout) storeLock() string         { return filepath.Join(string(l), storeLock) }
func (l layout) elections() string         { return filepath.Join(string(l), electionDir) }
func (l layout) locks() string             { return filepath.Join(string(l), lockDir) }
func (l layout) terms() string             { return filepath.Join(string(l), termDir) }
func (l layout) record(stem string) string { return filepath.Join(l.elections(), stem+recordSuffix) }
func (l layout) lock(stem string) string   { return filepath.Join(l.locks(), stem+lockSuffix) }
func (l layout) term(file string) string   { return filepath.Join(l.terms(), file) }

// termFile returns the name of a term's lock, up to the nonce.
func termFile(stem string, record tenure.Record) string {
	return stem + "." + sessionStem(record.Session) + "." + strconv.FormatUint(record.Token, 10)
}

// stemOf returns the stem that the name of any file of an election begins with. No stem contains a dot.
func stemOf(name string) string {
	stem, _, _ := strings.Cut(name, ".")
	return stem
}

// readFile returns the content of a file of the store. What cannot be one is an error that names it.
func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, foreign(path, errors.New("it is no regular file"))
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err == nil && len(text) > maxFileSize {
		err = foreign(path, fmt.Errorf("it has more than %d bytes", maxFileSize))
	}
	return text, err
}

// foreign is the error for a file that is damaged or was not written by this store.
func foreign(path string, err error) error {
	return tenure.Permanent(fmt.Errorf(
		"%s is damaged or foreign (%w): it was left as it is; restore it, or move it away", path, err))
}

// failed marks an error of the system as permanent if it says that permission is missing.
func failed(err error) error {
	for _, permission := range permissionErrors {
		if errors.Is(err, permission) && !errors.Is(err, tenure.ErrPermanent) {
			return tenure.Permanent(err)
		}
	}
	return err
}

// refused is failed for an attempt to write of which it is certain that nothing was written.
func refused(err error) error {
	return certainty.Mark(failed(err))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
