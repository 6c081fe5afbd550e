package file

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tenure-go/tenure"
)

// fileSystem is what matters of the file system that a store is on.
type fileSystem struct {
	name string
	kind fileSystemKind
	// unsynced says that it was mounted so that a sync does not wait for the disk.
	unsynced bool
}

type fileSystemKind uint8

const (
	unknownKind fileSystemKind = iota
	localKind
	// volatileKind is local and gone with a reboot.
	volatileKind
	// layeredKind is local to a container and gone with it.
	layeredKind
	// networkKind is shared with other hosts, or may be.
	networkKind
)

// checkFileSystem refuses a network file system before anything is made on it.
func (s *Store) checkFileSystem() error {
	existing := string(s.layout)
	for !exists(existing) && filepath.Dir(existing) != existing {
		existing = filepath.Dir(existing)
	}
	found, err := s.config.fileSystem(existing)
	if err != nil {
		return err
	}
	if found.kind == networkKind {
		return tenure.Permanent(fmt.Errorf("%s is on a network file system (%s), whose locks and notifications cannot "+
			"be relied upon between hosts: use a local directory, or a store that is made for several hosts",
			existing, found.name))
	}
	return nil
}

// Guarantee implements [tenure.Guarantor]: exclusive on a local file system that survives a reboot.
func (s *Store) Guarantee(ctx context.Context) (tenure.Guarantee, error) {
	if s.closed.Load() {
		return tenure.Guarantee{}, fmt.Errorf("file: guarantee: %w", errClosed)
	}
	type probed struct {
		fileSystem fileSystem
		err        error
	}
	result, err := call(ctx, s.reads, func() probed {
		found, err := s.config.fileSystem(string(s.layout))
		return probed{found, err}
	})
	if err == nil {
		err = result.err
	}
	if err != nil {
		return tenure.Guarantee{}, fmt.Errorf("file: guarantee: %w", failed(err))
	}
	return result.fileSystem.guarantee(), nil
}

func (f fileSystem) guarantee() tenure.Guarantee {
	g := tenure.Guarantee{Grade: tenure.GradeExclusive}
	if grade, reason := f.limit(); reason != "" {
		g.Grade, g.Reasons = grade, append(g.Reasons, reason)
	}
	g.Reasons = append(g.Reasons,
		"every write is synced to the disk, with its directory, before it is acknowledged; "+
			"a power cut takes nothing back as long as the disk keeps what it says it has written",
		"among the processes of this host alone")
	return g
}

// limit returns what makes the guarantee weaker, if anything.
func (f fileSystem) limit() (tenure.Grade, string) {
	switch {
	case f.kind == networkKind:
		return tenure.GradeUnknown, f.name + ": a network file system was mounted here after the store was opened"
	case f.kind == unknownKind:
		return tenure.GradeUnknown, f.name + ": an unknown file system, which may be shared with other hosts"
	case f.kind == volatileKind:
		return tenure.GradeUntilFailover, f.name + ": records and tokens do not survive a reboot"
	case f.kind == layeredKind:
		return tenure.GradeUntilFailover, f.name + ": records and tokens last as long as the container; mount a volume"
	case f.unsynced:
		return tenure.GradeUntilFailover, f.name + ": mounted without write barriers, so a power cut can take writes back"
	}
	return tenure.GradeExclusive, ""
}
