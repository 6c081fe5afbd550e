package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// notifier is an inotify instance on the store's directories.
type notifier struct {
	file        *os.File
	root, terms int32
}

// event is what inotify reported: a record was put into its place or deleted, or the last descriptor of a term's lock
// was closed, or events were lost.
type event struct {
	name     string
	closed   bool
	overflow bool
}

// gone are the events after which a directory is no longer watched, or no longer the store's.
const gone = syscall.IN_DELETE_SELF | syscall.IN_MOVE_SELF | syscall.IN_UNMOUNT | syscall.IN_IGNORED

// newNotifier watches the records and the term locks. A lock's holder opens its file for writing, and probes open it
// for reading only, so that they cause no event.
func newNotifier(files layout) (*notifier, error) {
	// A descriptor that does not block is left to the runtime's poller: no thread waits, and close ends a read.
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if errors.Is(err, syscall.EMFILE) {
		return nil, fmt.Errorf("inotify: %w: more files than the process may open (ulimit -n), or more inotify "+
			"instances than the user may have (fs.inotify.max_user_instances)", err)
	}
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	n := &notifier{file: os.NewFile(uintptr(fd), "inotify")}
	// A directory in which a file is open is not reported as gone when it is removed, but missing in its parent.
	n.root, err = n.watch(fd, string(files), syscall.IN_DELETE|syscall.IN_MOVED_FROM)
	if err == nil {
		_, err = n.watch(fd, files.elections(), syscall.IN_MOVED_TO|syscall.IN_DELETE)
	}
	if err == nil {
		n.terms, err = n.watch(fd, files.terms(), syscall.IN_CLOSE_WRITE)
	}
	if err != nil {
		n.close()
		return nil, err
	}
	return n, nil
}

func (n *notifier) watch(fd int, dir string, mask uint32) (int32, error) {
	mask |= syscall.IN_DELETE_SELF | syscall.IN_MOVE_SELF | syscall.IN_ONLYDIR
	wd, err := syscall.InotifyAddWatch(fd, dir, mask)
	if err != nil {
		return 0, &os.PathError{Op: "inotify_add_watch", Path: dir, Err: err}
	}
	return int32(wd), nil
}

// read calls notice with the events as they come, until close, or until a directory is gone.
func (n *notifier) read(notice func([]event)) error {
	buffer := make([]byte, 64<<10)
	for {
		length, err := n.file.Read(buffer)
		if err != nil {
			return err
		}
		events, err := n.parse(buffer[:length])
		notice(events)
		if err != nil {
			return err
		}
	}
}

// parse reads a sequence of struct inotify_event.
func (n *notifier) parse(buffer []byte) ([]event, error) {
	var events []event
	for len(buffer) >= syscall.SizeofInotifyEvent {
		wd := int32(binary.NativeEndian.Uint32(buffer[0:]))
		mask := binary.NativeEndian.Uint32(buffer[4:])
		end := syscall.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buffer[12:]))
		name := strings.TrimRight(string(buffer[syscall.SizeofInotifyEvent:end]), "\x00")
		buffer = buffer[end:]
		switch {
		case mask&syscall.IN_Q_OVERFLOW != 0:
			events = append(events, event{overflow: true})
		case mask&gone != 0, wd == n.root && (name == electionDir || name == termDir):
			return events, errors.New("the store's directory was removed, moved or unmounted")
		case wd == n.terms || wd != n.root && strings.HasSuffix(name, recordSuffix):
			events = append(events, event{name: name, closed: wd == n.terms})
		}
	}
	return events, nil
}

func (n *notifier) close() { _ = n.file.Close() }
