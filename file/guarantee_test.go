//go:build unix

package file

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
)

func on(found fileSystem) Option {
	return option(func(c *config) {
		c.fileSystem = func(string) (fileSystem, error) { return found, nil }
	})
}

func TestNetworkFileSystemIsRefused(t *testing.T) {
	dir := newDir(t)
	s, err := Open(dir, on(fileSystem{name: "NFS", kind: networkKind}))
	if !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), "NFS") {
		t.Errorf("open: %v, %v", s, err)
	}
	if exists(dir) {
		t.Error("something was made on a file system that was refused")
	}
}

func TestGrades(t *testing.T) {
	tests := []struct {
		found  fileSystem
		grade  tenure.Grade
		reason string
	}{
		{fileSystem{name: "ext4", kind: localKind}, tenure.GradeExclusive, "synced"},
		{fileSystem{name: "ext4", kind: localKind, unsynced: true}, tenure.GradeUntilFailover, "barriers"},
		{fileSystem{name: "tmpfs", kind: volatileKind}, tenure.GradeUntilFailover, "reboot"},
		{fileSystem{name: "overlay", kind: layeredKind}, tenure.GradeUntilFailover, "container"},
		{fileSystem{name: "type 0x1"}, tenure.GradeUnknown, "unknown"},
	}
	for _, test := range tests {
		s := openStore(t, newDir(t), on(test.found))
		got, err := s.Guarantee(context.Background())
		if err != nil || got.Grade != test.grade || len(got.Reasons) < 2 || !strings.Contains(got.Reasons[0], test.reason) {
			t.Errorf("%+v: %+v, %v", test.found, got, err)
		}
	}
}

// The file system of the tests' own directory is known and local.
func TestRealFileSystem(t *testing.T) {
	s := openStore(t, newDir(t))
	got, err := s.Guarantee(context.Background())
	if err != nil || got.Grade < tenure.GradeUntilFailover {
		t.Errorf("%+v, %v", got, err)
	}
}
