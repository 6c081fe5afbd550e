package file

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// step is one change that a store made on the disk, or one point on its way there.
type step struct {
	op       string
	path, to string
	data     []byte
}

// disk makes every change of a store's directory, so that tests can end or freeze a process after each of them and
// can work out what a power cut would have left.
type disk struct {
	mode  fs.FileMode
	after func(step) // nil outside of tests
}

func (d *disk) did(s step) {
	if d.after != nil {
		d.after(s)
	}
}

// tempFile is a file that its maker holds the kernel's lock on, until it is closed. So others can tell what a dead
// process left from what a living one is about to use.
type tempFile struct {
	*os.File
	path string
}

// createLocked makes a file with a name of its own, prefix.NONCE.suffix, and locks it. Between the two steps a sweep
// may take it for a leftover: then another is made.
func (d *disk) createLocked(prefix, suffix string) (tempFile, error) {
	const attempts = 100
	for range attempts {
		temp, ok, err := d.tryCreateLocked(fmt.Sprintf("%s.%016x%s", prefix, rand.Uint64(), suffix))
		if ok || err != nil {
			return temp, err
		}
	}
	return tempFile{}, fmt.Errorf("%s.*%s: somebody else locks or removes the file again and again", prefix, suffix)
}

func (d *disk) tryCreateLocked(path string) (temp tempFile, ok bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|openFlags, d.mode)
	if err != nil {
		return tempFile{}, false, err
	}
	temp = tempFile{File: f, path: path}
	d.did(step{op: "create", path: path})
	locked, err := tryLock(f, true)
	if err == nil {
		err = d.permit(f)
	}
	if err != nil || !locked || !isAt(f, path) {
		d.discard(temp)
		return tempFile{}, false, err
	}
	d.did(step{op: "flock", path: path})
	return temp, true, nil
}

// permit gives a new file exactly the store's mode, which the process's umask may have narrowed.
func (d *disk) permit(f *os.File) error {
	if d.mode == defaultMode {
		return nil
	}
	return f.Chmod(d.mode)
}

// writeTemp makes a temporary file that outlives a power cut with all of its content.
func (d *disk) writeTemp(prefix string, text []byte) (tempFile, error) {
	temp, err := d.createLocked(prefix, tempSuffix)
	if err != nil {
		return temp, err
	}
	if err = d.write(temp, text); err == nil {
		err = d.sync(temp)
	}
	if err != nil {
		d.discard(temp)
		return tempFile{}, err
	}
	return temp, nil
}

func (d *disk) write(temp tempFile, text []byte) error {
	if _, err := temp.Write(text); err != nil {
		return err
	}
	d.did(step{op: "write", path: temp.path, data: text})
	return nil
}

func (d *disk) sync(temp tempFile) error {
	if err := temp.Sync(); err != nil {
		return err
	}
	d.did(step{op: "sync", path: temp.path})
	return nil
}

// discard removes a file that createLocked made and lets go of it, in this order: what is still there and not locked
// is a dead process's.
func (d *disk) discard(temp tempFile) {
	_ = d.remove(temp.path)
	_ = temp.Close()
}

func (d *disk) rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	d.did(step{op: "rename", path: from, to: to})
	return nil
}

func (d *disk) remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	d.did(step{op: "remove", path: path})
	return nil
}

// mkdir makes a directory unless it exists.
func (d *disk) mkdir(path string) error {
	err := os.Mkdir(path, dirMode(d.mode).Perm())
	if err == nil && d.mode != defaultMode {
		err = os.Chmod(path, dirMode(d.mode))
	}
	if info, statErr := os.Stat(path); err != nil && statErr == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		d.did(step{op: "mkdir", path: path})
	}
	return err
}

// syncDir makes the changes of a directory's entries outlive a power cut. Of a file system that cannot sync a
// directory at all, no more can be had.
func (d *disk) syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !unsyncable(err) {
		return err
	}
	d.did(step{op: "syncdir", path: path})
	return nil
}

// replace puts text into the place of the file at path, all of it or nothing.
func (d *disk) replace(path, tempPrefix string, text []byte) error {
	temp, err := d.writeTemp(tempPrefix, text)
	if err != nil {
		return err
	}
	if err := d.rename(temp.path, path); err != nil {
		d.discard(temp)
		return err
	}
	_ = temp.Close()
	return d.syncDir(filepath.Dir(path))
}

func unsyncable(err error) bool {
	for _, known := range unsyncableErrors {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// isAt reports whether path leads to the open file f, and not to another or to none.
func isAt(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(opened, named)
}
