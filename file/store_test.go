//go:build unix

package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

func TestRecordSurvivesReopening(t *testing.T) {
	dir := newDir(t)
	s := openStore(t, dir)
	record := leader(7, "s")
	record.Metadata = map[string]string{"zone": "a"}
	record.Extra = map[string]json.RawMessage{"later": json.RawMessage(`{"x":[1,2]}`)}
	written := mustSwap(t, s, "e", "", record)

	got := load(t, openStore(t, dir), "e")
	if got.Version != written.Version || got.Record.Token != 7 || got.Record.TTL != time.Hour ||
		got.Record.Metadata["zone"] != "a" || string(got.Record.Extra["later"]) != `{"x":[1,2]}` {
		t.Errorf("reopened: %+v, written: %+v", got, written)
	}
}

func TestVersionsNeverRecur(t *testing.T) {
	s := openStore(t, newDir(t))
	seen := make(map[tenure.Version]bool)
	for range 5 {
		snapshot := load(t, s, "e")
		for range 3 {
			snapshot = mustSwap(t, s, "e", snapshot.Version, vacant(snapshot.Record))
			if seen[snapshot.Version] {
				t.Fatalf("version %s came again", snapshot.Version)
			}
			seen[snapshot.Version] = true
		}
		if _, err := s.Prune(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAwkwardNames(t *testing.T) {
	s := openStore(t, newDir(t))
	for i, name := range awkward {
		mustSwap(t, s, name, "", leader(uint64(i+1), strings.Repeat("S/", i)+"s"))
	}
	for i, name := range awkward {
		if got := load(t, s, name).Record.Token; got != uint64(i+1) {
			t.Errorf("%q has token %d, want %d", name, got, i+1)
		}
	}
	want := slices.Sorted(slices.Values(awkward))
	if got, err := s.List(context.Background()); err != nil || !slices.Equal(got, want) {
		t.Errorf("list: %q, %v, want %q", got, err, want)
	}
}

func TestImproperNamesAndRecordsAreRefused(t *testing.T) {
	s := openStore(t, newDir(t))
	for _, name := range []string{"", "a\nb", "\xff", strings.Repeat("x", 256)} {
		_, loadErr := s.Load(context.Background(), name)
		_, swapErr := s.CompareAndSwap(context.Background(), name, "", tenure.Record{})
		if !errors.Is(loadErr, tenure.ErrPermanent) || !errors.Is(swapErr, tenure.ErrPermanent) {
			t.Errorf("%q: %v, %v", name, loadErr, swapErr)
		}
	}
	improper := map[string]tenure.Record{
		"leader without session": {Token: 1, Leader: "a", TTL: time.Second},
		"TTL of microseconds":    {Token: 1, TTL: time.Second + time.Microsecond},
		"token too large":        {Token: tenure.MaxToken + 1},
		"record too large":       {Metadata: map[string]string{"x": strings.Repeat("y", maxFileSize)}},
	}
	for what, record := range improper {
		_, err := s.CompareAndSwap(context.Background(), "e", "", record)
		if !errors.Is(err, tenure.ErrPermanent) || load(t, s, "e").Exists() {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Files that are no records are left alone, whatever they are, and the error names them.
func TestForeignFiles(t *testing.T) {
	valid := func(t *testing.T) string {
		s := openStore(t, newDir(t))
		mustSwap(t, s, "e", "", vacant(tenure.Record{Token: 3}))
		text, err := os.ReadFile(s.layout.record("e"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}(t)
	contents := map[string]string{
		"empty":            "",
		"zeros":            strings.Repeat("\x00", 300),
		"cut off":          valid[:len(valid)/2],
		"two of them":      valid + valid,
		"other JSON":       `{"name":"x"}`,
		"no record":        `{"tenure_file":1,"election":"e","version":"1-ab"}`,
		"bare record":      `{"tenure":1,"token":1}`,
		"later format":     strings.Replace(valid, `"tenure_file":1`, `"tenure_file":99`, 1),
		"later record":     strings.Replace(valid, `"tenure":1`, `"tenure":99`, 1),
		"other election":   strings.Replace(valid, `"election":"e"`, `"election":"f"`, 1),
		"improper version": strings.Replace(valid, `"version":"`, `"version":"x`, 1),
		"lock elsewhere":   strings.Replace(valid, `"record":`, `"term_lock":{"file":"../x"},"record":`, 1),
		"huge":             valid + strings.Repeat(" ", maxFileSize),
	}
	for what, content := range contents {
		t.Run(what, func(t *testing.T) { testForeign(t, content) })
	}
}

func testForeign(t *testing.T, content string) {
	s := openStore(t, newDir(t))
	mustSwap(t, s, "good", "", tenure.Record{Token: 1})
	path := s.layout.record("e")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	checkForeign(t, s, path)
	if after, err := os.ReadFile(path); err != nil || string(after) != content {
		t.Errorf("the file was changed to %q, %v", after, err)
	}
	names, err := openStore(t, string(s.layout)).List(context.Background())
	if err != nil || !slices.Equal(names, []string{"e"}) {
		t.Errorf("list: %q, %v", names, err)
	}
}

func checkForeign(t *testing.T, s *Store, path string) {
	t.Helper()
	_, err := s.Load(context.Background(), "e")
	if !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), path) {
		t.Errorf("load: %v", err)
	}
	for _, old := range []tenure.Version{"", "1-ab"} {
		_, err := s.CompareAndSwap(context.Background(), "e", old, leader(9, "s"))
		if !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), path) {
			t.Errorf("swap from %q: %v", old, err)
		}
	}
	if _, err := s.Prune(context.Background(), 0); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("prune: %v", err)
	}
	if got := load(t, s, "good"); got.Exists() {
		t.Error("a damaged file kept another election from being pruned")
	}
}

func TestForeignKindsOfFiles(t *testing.T) {
	kinds := map[string]func(path string) error{
		"directory":    func(path string) error { return os.Mkdir(path, 0o700) },
		"named pipe":   mkfifo,
		"link":         func(path string) error { return os.Symlink("good.json", path) },
		"broken link":  func(path string) error { return os.Symlink("nowhere", path) },
		"another link": func(path string) error { return os.Symlink("/dev/zero", path) },
	}
	for what, makeKind := range kinds {
		t.Run(what, func(t *testing.T) {
			s := openStore(t, newDir(t))
			mustSwap(t, s, "good", "", tenure.Record{Token: 1})
			path := s.layout.record("e")
			if err := makeKind(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(path)
			checkForeign(t, s, path)
			if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
				t.Errorf("the file was replaced: %v, %v", after, err)
			}
		})
	}
}

func TestForeignStoreFiles(t *testing.T) {
	contents := map[string]string{
		"empty": "", "foreign": `{"name":"x"}`, "later": `{"tenure_file_store":99}`,
		"floor": `{"tenure_file_store":1,"floor":18446744073709551615}`,
	}
	for what, content := range contents {
		dir := newDir(t)
		s := openStore(t, dir)
		path := s.layout.storeFile()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: open: %v", what, err)
		}
		if _, err := s.Load(context.Background(), "e"); !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("%s: load: %v", what, err)
		}
		if after, _ := os.ReadFile(path); string(after) != content {
			t.Errorf("%s: the file was changed to %q", what, after)
		}
	}
}

// A store that lost its floor is not taken for a new one: tokens could fall.
func TestStoreWithoutStoreFile(t *testing.T) {
	dir := newDir(t)
	s := openStore(t, dir)
	if err := os.Remove(s.layout.storeFile()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("open: %v", err)
	}
	_, loadErr := s.Load(context.Background(), "e")
	_, swapErr := s.CompareAndSwap(context.Background(), "e", "", leader(1, "s"))
	if loadErr == nil || !errors.Is(swapErr, tenure.ErrNotApplied) {
		t.Errorf("load: %v, swap: %v", loadErr, swapErr)
	}
}

func TestDirectoryRemoved(t *testing.T) {
	dir := newDir(t)
	s := openStore(t, dir)
	snapshot := mustSwap(t, s, "e", "", leader(1, "s"))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	_, loadErr := s.Load(context.Background(), "e")
	_, listErr := s.List(context.Background())
	_, swapErr := s.CompareAndSwap(context.Background(), "e", snapshot.Version, snapshot.Record)
	if loadErr == nil || errors.Is(loadErr, tenure.ErrPermanent) || listErr == nil ||
		!errors.Is(swapErr, tenure.ErrNotApplied) {
		t.Errorf("load: %v, list: %v, swap: %v", loadErr, listErr, swapErr)
	}
	if exists(dir) {
		t.Error("the directory was made again: it might be the place where a volume is to be mounted")
	}
	openStore(t, dir)
	if got := load(t, s, "e"); got.Exists() {
		t.Errorf("a new store holds %+v", got)
	}
	mustSwap(t, s, "e", "", leader(2, "s"))
}

func TestReadOnlyDirectory(t *testing.T) {
	dir := newDir(t)
	s := openStore(t, dir)
	snapshot := mustSwap(t, s, "e", "", tenure.Record{Token: 4})
	letEverybodyRead(t, dir)
	asNobody(t, func() {
		reader, err := Open(dir)
		if err != nil {
			t.Error(err)
			return
		}
		defer reader.Close()
		// Calls to the store may run on other threads, which keep the rights of the test.
		if got, err := reader.read("e"); err != nil || got.Record.Token != 4 {
			t.Errorf("read: %+v, %v", got, err)
		}
		w := &swap{store: reader, election: "e", stem: "e", old: snapshot.Version, record: snapshot.Record}
		if result := w.run(context.Background()); !errors.Is(result.err, tenure.ErrPermanent) {
			t.Errorf("swap: %v", result.err)
		}
		if _, err := reader.prune(context.Background(), 0); !errors.Is(failed(err), tenure.ErrPermanent) {
			t.Errorf("prune: %v", err)
		}
		if _, err := Open(filepath.Join(dir, "new")); !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("open in a directory without permission: %v", err)
		}
	})
	if got := load(t, s, "e"); got.Version != snapshot.Version {
		t.Errorf("the record was changed to %+v", got)
	}
}

func letEverybodyRead(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Dir(filepath.Dir(dir)), func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return os.Chmod(path, 0o755)
		}
		if err == nil {
			return os.Chmod(path, 0o644)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMode(t *testing.T) {
	for _, mode := range []os.FileMode{0, 0o400, 0o640, 0o700, 0o606, os.ModeDir | 0o600} {
		if _, err := Open(newDir(t), WithMode(mode)); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("mode %#o: %v", mode, err)
		}
	}
	for mode, dirMode := range map[os.FileMode]os.FileMode{0o600: 0o700, 0o660: 0o770 | os.ModeSetgid} {
		dir := newDir(t)
		s := openStore(t, dir, WithMode(mode))
		mustSwap(t, s, "e", "", leader(1, "s"))
		err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			want := mode
			if entry.IsDir() {
				want = dirMode
			}
			info, err := entry.Info()
			if err == nil && info.Mode()&^os.ModeDir != want {
				t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestClosedStore(t *testing.T) {
	s := openStore(t, newDir(t))
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	ctx := context.Background()
	_, loadErr := s.Load(ctx, "e")
	_, swapErr := s.CompareAndSwap(ctx, "e", "", tenure.Record{})
	_, listErr := s.List(ctx)
	_, pruneErr := s.Prune(ctx, 0)
	_, guaranteeErr := s.Guarantee(ctx)
	for i, err := range []error{loadErr, swapErr, listErr, pruneErr, guaranteeErr} {
		if !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

func TestEndedContext(t *testing.T) {
	s := openStore(t, newDir(t))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Load(ctx, "e"); !errors.Is(err, context.Canceled) {
		t.Errorf("load: %v", err)
	}
	_, err := s.CompareAndSwap(ctx, "e", "", leader(1, "s"))
	if !errors.Is(err, context.Canceled) || !errors.Is(err, tenure.ErrNotApplied) || load(t, s, "e").Exists() {
		t.Errorf("swap: %v", err)
	}
}

// A disk that hangs at any step of a swap holds up nobody beyond the context, and the error tells the truth about what
// becomes of the write when the disk goes on.
func TestHangingDisk(t *testing.T) {
	ops := []string{"create", "flock", "write", "sync", "lock", "compare", "rename", "syncdir"}
	for _, op := range ops {
		t.Run(op, func(t *testing.T) { testHang(t, op) })
	}
}

func testHang(t *testing.T, op string) {
	hang := make(chan struct{})
	reached, hook := signalAt(op, hang)
	dir := newDir(t)
	before := mustSwap(t, openStore(t, dir), "e", "", tenure.Record{Token: 1})
	s := openStore(t, dir, hook.option())
	hook.arm()

	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-reached
		cancel()
	}()
	_, err := s.CompareAndSwap(ctx, "e", before.Version, leader(2, "s"))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("swap: %v", err)
	}
	close(hang)
	settled(s)

	got := load(t, s, "e")
	landed := got.Record.Token == 2
	if errors.Is(err, tenure.ErrNotApplied) && landed {
		t.Errorf("the write landed, the error was %v", err)
	}
	if known := op != "rename" && op != "syncdir"; known != errors.Is(err, tenure.ErrNotApplied) {
		t.Errorf("error of a swap given up at %s: %v", op, err)
	}
	if landed {
		checkHeld(t, s, 2)
	}
	leftovers(t, s)
}

// hookOf runs a function at the first step of a kind after it was armed.
type hookOf struct {
	mu    sync.Mutex
	armed bool
	op    string
	at    func()
}

func (h *hookOf) arm() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.armed = true
}

func (h *hookOf) option() Option {
	return option(func(c *config) {
		c.after = func(s step) {
			if h.fires(s) {
				h.at()
			}
		}
	})
}

func (h *hookOf) fires(s step) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.armed || s.op != h.op {
		return false
	}
	h.armed = false
	return true
}

// signalAt tells that a step was reached, and waits there.
func signalAt(op string, release <-chan struct{}) (reached chan struct{}, hook *hookOf) {
	reached = make(chan struct{})
	return reached, &hookOf{op: op, at: func() {
		close(reached)
		<-release
	}}
}

// settled waits until no work that was given up is under way: it has all slots then.
func settled(s *Store) {
	for range parallel {
		s.writes <- struct{}{}
	}
	for range parallel {
		<-s.writes
	}
}

// leftovers fails the test if there are temporary files, or locks that no record names.
func leftovers(t *testing.T, s *Store) {
	t.Helper()
	for _, dir := range []string{string(s.layout), s.layout.elections(), s.layout.locks(), s.layout.terms()} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			name := entry.Name()
			stray := strings.HasSuffix(name, tempSuffix) || dir == s.layout.locks() && strings.Count(name, ".") > 1
			if stray || dir == s.layout.terms() && !s.named(name) {
				t.Errorf("left over: %s", filepath.Join(dir, name))
			}
		}
	}
}

func TestGoroutinesSwapOneElection(t *testing.T) {
	dir := newDir(t)
	const goroutines, times = 8, 10
	var done sync.WaitGroup
	for i := range goroutines {
		s := openStore(t, dir)
		if i%2 == 1 {
			s = openStore(t, dir)
		}
		done.Go(func() {
			for n := 0; n < times; {
				err := addOne(s, "e")
				if err != nil && !errors.Is(err, tenure.ErrConflict) {
					t.Error(err)
					return
				}
				if err == nil {
					n++
				}
			}
		})
	}
	done.Wait()
	want := fmt.Sprint(goroutines * times)
	if got := load(t, openStore(t, dir), "e").Record.Metadata["number"]; got != want {
		t.Errorf("counted to %s, want %s", got, want)
	}
}

// Who only looks leaves nothing behind, neither where nothing is nor in a directory of something else.
func TestExistingDirectoryIsNotMade(t *testing.T) {
	foreign := t.TempDir()
	for _, dir := range []string{filepath.Join(foreign, "nowhere"), foreign} {
		_, err := Open(dir, WithExistingDirectory())
		if !errors.Is(err, tenure.ErrNoStore) || !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("%s: %v, want ErrNoStore", dir, err)
		}
	}
	if left, err := os.ReadDir(foreign); len(left) > 0 || err != nil {
		t.Errorf("there is %v, %v", left, err)
	}
	dir := newDir(t)
	mustSwap(t, openStore(t, dir), "e", "", leader(7, "s"))
	s, err := Open(dir, WithExistingDirectory())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := load(t, s, "e").Record.Token; got != 7 {
		t.Errorf("the token is %d", got)
	}
}
