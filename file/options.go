package file

import (
	"fmt"
	"io/fs"

	"github.com/tenure-go/tenure"
)

// defaultMode is the mode of files without [WithMode].
const defaultMode fs.FileMode = 0o600

// Option configures a [Store].
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

// config is what the options fill in. Its functions are replaced in tests alone.
type config struct {
	mode       fs.FileMode
	existing   bool
	after      func(step)
	fileSystem func(path string) (fileSystem, error)
	boot       func() string
}

// WithMode sets the permission bits of the files that the store makes, whatever the process's umask. Directories get
// the right to search wherever files get the right to read. Default 0600: one user. Bounds: 0600, 0660, 0666,
// because every process that takes part reads and writes.
//
// For the members of a group, make the directory first, with the group's set-ID bit so that all that is made in it
// belongs to the group (install -d -g GROUP -m 2770 DIR), and give every process the option WithMode(0o660).
func WithMode(mode fs.FileMode) Option { return option(func(c *config) { c.mode = mode }) }

// WithExistingDirectory has [Open] make no store: where none is, it fails with [tenure.ErrNoStore]. It is for programs
// that only look, which a mistyped path must not leave with an empty store. Default: Open makes the store.
func WithExistingDirectory() Option { return option(func(c *config) { c.existing = true }) }

func newConfig(options []Option) (*config, error) {
	c := &config{mode: defaultMode, fileSystem: fileSystemOf, boot: bootID}
	for _, o := range options {
		if o != nil {
			o.apply(c)
		}
	}
	return c, c.check()
}

func (c *config) check() error {
	switch c.mode {
	case 0o600, 0o660, 0o666:
		return nil
	}
	return fmt.Errorf("%w: mode %#o: want 0600, 0660 or 0666, since every process that takes part reads and writes",
		tenure.ErrConfig, uint32(c.mode))
}

// dirMode is the mode of directories beside files of the given mode. Where a group shares them, what is made in them
// stays the group's.
func dirMode(mode fs.FileMode) fs.FileMode {
	dir := mode | mode&0o444>>2
	if mode&0o060 != 0 {
		dir |= fs.ModeSetgid
	}
	return dir
}
