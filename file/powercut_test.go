//go:build unix

package file

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
)

// platter models what a disk holds for certain, and what it may hold, after a number of steps: what a file contains is
// certain once the file was synced, a name once its directory was. The rest can have got there or not, each change by
// itself; a rename alone is one change. Real file systems keep more.
type platter struct {
	certain map[string]*content // by path
	pending []rearrangement
	current map[string]*content
}

// content is that of a file, or marks a directory.
type content struct {
	dir    bool
	data   []byte
	synced bool
}

// rearrangement is a change of names within one directory: a path with no content is one that goes.
type rearrangement struct {
	dir   string
	paths map[string]*content
}

func newPlatter(t *testing.T, root string) *platter {
	t.Helper()
	p := &platter{certain: make(map[string]*content)}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		c := &content{dir: entry.IsDir(), synced: true}
		if !c.dir {
			c.data, err = os.ReadFile(path)
		}
		p.certain[path] = c
		return err
	})
	must(t, err)
	p.current = maps.Clone(p.certain)
	return p
}

func (p *platter) apply(s step) {
	switch s.op {
	case "create":
		p.change(map[string]*content{s.path: {}})
	case "mkdir":
		p.change(map[string]*content{s.path: {dir: true, synced: true}})
	case "rename":
		p.change(map[string]*content{s.path: nil, s.to: p.current[s.path]})
	case "remove":
		p.change(map[string]*content{s.path: nil})
	case "write":
		p.current[s.path].data, p.current[s.path].synced = s.data, false
	case "sync":
		p.current[s.path].synced = true
	case "syncdir":
		p.settle(s.path)
	}
}

func (p *platter) change(paths map[string]*content) {
	var dir string
	for path, c := range paths {
		dir = filepath.Dir(path)
		put(p.current, path, c)
	}
	p.pending = append(p.pending, rearrangement{dir, paths})
}

func (p *platter) settle(dir string) {
	p.pending = slices.DeleteFunc(p.pending, func(r rearrangement) bool {
		if r.dir == dir {
			r.applyTo(p.certain)
		}
		return r.dir == dir
	})
}

func (r rearrangement) applyTo(files map[string]*content) {
	for path, c := range r.paths {
		put(files, path, c)
	}
}

func put(files map[string]*content, path string, c *content) {
	if c == nil {
		delete(files, path)
		return
	}
	files[path] = c
}

// outcomes calls visit with every set of files that the power cut can leave.
func (p *platter) outcomes(visit func(files map[string][]byte, dirs []string)) {
	for chosen := range 1 << len(p.pending) {
		files := maps.Clone(p.certain)
		for i, r := range p.pending {
			if chosen&(1<<i) != 0 {
				r.applyTo(files)
			}
		}
		for _, cut := range []func([]byte) []byte{
			func([]byte) []byte { return nil },
			func(data []byte) []byte { return data[:len(data)/2] },
			func(data []byte) []byte { return make([]byte, len(data)) },
			func(data []byte) []byte { return data },
		} {
			visit(contents(files, cut))
		}
	}
}

func contents(files map[string]*content, cut func([]byte) []byte) (data map[string][]byte, dirs []string) {
	data = make(map[string][]byte)
	for path, c := range files {
		switch {
		case c.dir:
			dirs = append(dirs, path)
		case c.synced:
			data[path] = c.data
		default:
			data[path] = cut(c.data)
		}
	}
	slices.Sort(dirs)
	return data, dirs
}

// The power is cut after every step of every action, and the disk keeps any part of what it had not yet promised.
func TestPowerCutAfterEveryStep(t *testing.T) {
	for action, prior := range priors {
		t.Run(action, func(t *testing.T) {
			t.Parallel() // the disk is what takes the time
			testPowerCut(t, action, prior)
		})
	}
}

func testPowerCut(t *testing.T, action string, prior string) {
	root := t.TempDir()
	dir := filepath.Join(root, "a", "store")
	before, disk := prepare(t, root, dir, prior)
	var steps []step
	s := openStore(t, dir, option(func(c *config) { c.after = func(s step) { steps = append(steps, s) } }))
	must(t, actions[action](s))
	acknowledged := len(steps)

	outcomes := 0
	for i, s := range steps {
		disk.apply(s)
		seen := make(map[string]bool)
		disk.outcomes(func(files map[string][]byte, dirs []string) {
			if key := fmt.Sprint(files, dirs); !seen[key] {
				seen[key] = true
				outcomes++
				reopen(t, root, action, files, dirs, before, i+1 == acknowledged)
			}
		})
		if t.Failed() {
			t.Fatalf("power cut after step %d of %d, %s %s", i+1, len(steps), s.op, s.path)
		}
	}
	t.Logf("%d steps, %d outcomes", len(steps), outcomes)
}

func prepare(t *testing.T, root, dir string, prior string) (tenure.Snapshot, *platter) {
	t.Helper()
	if prior == "" {
		return tenure.Snapshot{}, newPlatter(t, root)
	}
	actElsewhere(t, dir, prior)
	return load(t, openStore(t, dir), "e"), newPlatter(t, root)
}

// reopen checks the store that a power cut left, in another directory.
func reopen(t *testing.T, root, action string, files map[string][]byte, dirs []string, before tenure.Snapshot, last bool) {
	t.Helper()
	at := filepath.Join(t.TempDir(), "root")
	moved := func(path string) string { return at + strings.TrimPrefix(path, root) }
	for _, dir := range dirs {
		_ = os.Mkdir(moved(dir), 0o700) // fails where the parent was lost, and the directory with it
	}
	for path, data := range files {
		_ = os.WriteFile(moved(path), data, 0o600)
	}
	dir := filepath.Join(at, "a", "store")
	if action == "open" && last && !exists(filepath.Join(dir, storeFile)) {
		t.Error("a store that was opened is gone")
	}
	checkAfter(t, action, dir, before, last)
	if _, err := os.Stat(filepath.Join(dir, electionDir)); err != nil {
		t.Error(err)
	}
}

// The model itself must be able to fail.
func TestPlatterLosesWhatWasNotSynced(t *testing.T) {
	root := t.TempDir()
	p := newPlatter(t, root)
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	for _, s := range []step{
		{op: "create", path: a}, {op: "write", path: a, data: []byte("text")}, {op: "rename", path: a, to: b},
	} {
		p.apply(s)
	}
	found := func() map[string]bool {
		all := make(map[string]bool)
		p.outcomes(func(files map[string][]byte, _ []string) {
			all[fmt.Sprintf("a=%q b=%q", files[a], files[b])] = true
		})
		return all
	}
	for _, want := range []string{`a="" b=""`, `a="te" b=""`, `a="" b="te"`, `a="" b="text"`, `a="" b="\x00\x00\x00\x00"`} {
		if !found()[want] {
			t.Errorf("the model never leaves %s, only %v", want, found())
		}
	}
	p.apply(step{op: "sync", path: b})
	p.apply(step{op: "syncdir", path: root})
	if got := found(); len(got) != 1 || !got[`a="" b="text"`] {
		t.Errorf("after all was synced the model leaves %v", got)
	}
}
