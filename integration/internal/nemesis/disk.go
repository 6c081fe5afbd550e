//go:build linux

package nemesis

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// Disk is a file system in a file, on which the store keeps what it has, and which can be made to hang.
type Disk struct {
	// Dir is where it is mounted.
	Dir   string
	image string
}

// diskSize is enough for every server's files.
const diskSize = "1500M"

// NewDisk makes a file system and mounts it. That needs the rights of root.
func NewDisk() (*Disk, error) {
	dir, err := os.MkdirTemp("", "tenure-disk-")
	if err != nil {
		return nil, err
	}
	d := &Disk{Dir: filepath.Join(dir, "mount"), image: filepath.Join(dir, "image")}
	for _, command := range [][]string{
		{"chmod", "755", dir},
		{"truncate", "-s", diskSize, d.image},
		{"mkfs.ext4", "-q", "-O", "^has_journal", d.image},
		{"mkdir", d.Dir},
		{"mount", "-o", "loop", d.image, d.Dir},
		{"chmod", "1777", d.Dir},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			_ = os.RemoveAll(dir)
			return nil, fmt.Errorf("%s: %w: %s", command[0], err, out)
		}
	}
	return d, nil
}

// Remove unmounts the file system and removes it.
func (d *Disk) Remove() error {
	_ = d.freeze(false)
	var err error
	for range 50 {
		if err = syscall.Unmount(d.Dir, 0); !errors.Is(err, syscall.EBUSY) {
			break
		}
		time.Sleep(100 * time.Millisecond) // whoever was killed has not quite gone
	}
	if err != nil {
		return fmt.Errorf("unmount %s: %w", d.Dir, err)
	}
	return os.RemoveAll(filepath.Dir(d.Dir))
}

// freeze has writes hang, or lets them go on. The directory is opened for it, which no freeze holds up.
func (d *Disk) freeze(on bool) error {
	const freezeRequest, thawRequest = 0xC0045877, 0xC0045878 // FIFREEZE and FITHAW of linux/fs.h
	dir, err := os.Open(d.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	request := uintptr(thawRequest)
	if on {
		request = freezeRequest
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, dir.Fd(), request, 0); errno != 0 {
		return fmt.Errorf("freeze %s, %t: %w", d.Dir, on, errno)
	}
	return nil
}

// hangDisk has the store's disk stand still again and again, with moments between in which it works: so it is slow, and
// nothing fails.
type hangDisk struct{}

func (hangDisk) Name() string { return "disk" }

func (hangDisk) Unfit(s *Scene) string {
	if s.Disk == nil {
		return "no file system could be made that can be made to hang"
	}
	return ""
}

func (hangDisk) Plan(s *Scene, r *rand.Rand, _ []string) *Attack {
	hold, stall := between(r, s.TTL, 3*s.TTL), between(r, 50*time.Millisecond, s.TTL/3)
	slow := &slowness{disk: s.Disk, stall: stall}
	return &Attack{
		Fault: history.Fault{Targets: []string{"the disk"}, Parameters: map[string]string{"stall": stall.String()}},
		Hold:  hold, Begin: slow.begin, End: slow.end,
	}
}

// slowness is a disk that stands still for a time, works for a moment, and stands still again.
type slowness struct {
	disk  *Disk
	stall time.Duration

	stop   chan struct{}
	done   sync.WaitGroup
	stalls int
	err    error
}

func (s *slowness) begin() error {
	s.stop = make(chan struct{})
	s.done.Go(func() {
		for s.err == nil && !s.over(s.stall/8) {
			if s.err = s.disk.freeze(true); s.err == nil {
				s.stalls++
				s.over(s.stall)
				s.err = s.disk.freeze(false)
			}
		}
	})
	return nil
}

func (s *slowness) over(d time.Duration) bool {
	select {
	case <-s.stop:
		return true
	case <-time.After(d):
		return false
	}
}

func (s *slowness) end() (string, error) {
	close(s.stop)
	s.done.Wait()
	return fmt.Sprintf("it stood still %d times", s.stalls), s.err
}
