package leaderhttp_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tenure-go/tenure/leaderhttp"
)

func openMark(t *testing.T, path string) *leaderhttp.FileMark {
	t.Helper()
	m, err := leaderhttp.OpenFileMark(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func raise(t *testing.T, m leaderhttp.Mark, election string, token, want uint64) {
	t.Helper()
	if got, err := m.Raise(t.Context(), election, token); got != want || err != nil {
		t.Errorf("raising %s to %d gave %d, %v; want %d", election, token, got, err, want)
	}
}

func TestMarksRiseAndNeverFall(t *testing.T) {
	for what, m := range map[string]leaderhttp.Mark{
		"memory": &leaderhttp.MemoryMark{}, "file": openMark(t, filepath.Join(t.TempDir(), "marks")),
	} {
		t.Run(what, func(t *testing.T) {
			raise(t, m, "a", 5, 5)
			raise(t, m, "a", 3, 5)
			raise(t, m, "b", 1, 1)
			raise(t, m, "a", 6, 6)
			raise(t, m, "b", 1, 1)
		})
	}
}

func TestFileMarkHoldsWhatItSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "marks")
	m := openMark(t, path)
	var all sync.WaitGroup
	for i := range uint64(20) {
		all.Go(func() { m.Raise(t.Context(), []string{"a", "b"}[i%2], i+1) })
	}
	all.Wait()
	text, err := os.ReadFile(path)
	if want := `{"tenure_marks":1,"marks":{"a":19,"b":20}}` + "\n"; string(text) != want || err != nil {
		t.Errorf("the file holds %q, %v; want %q", text, err, want)
	}
}

// A mark that could not be written is not believed, not even by the process that failed to write it.
func TestFileMarkThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	m := openMark(t, filepath.Join(dir, "marks"))
	raise(t, m, "a", 5, 5)
	obstacle := filepath.Join(dir, "marks.tmp")
	if err := os.Mkdir(obstacle, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := m.Raise(t.Context(), "a", 6); err == nil {
			t.Errorf("an unwritable mark was raised to %d", got)
		}
	}
	raise(t, m, "a", 5, 5)
	if text, err := os.ReadFile(filepath.Join(dir, "marks")); err != nil || !strings.Contains(string(text), `{"a":5}`) {
		t.Errorf("a write that failed left %q, %v", text, err)
	}
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	raise(t, m, "a", 6, 6)
}

func TestFileMarkRefusesDamage(t *testing.T) {
	for _, text := range []string{
		"", "{", "[]", `{"tenure_marks":2,"marks":{}}`, `{"tenure_marks":1}`, `{"tenure_marks":1,"marks":{"a":0}}`,
		`{"tenure_marks":1,"marks":{"a":9007199254740992}}`, `{"tenure_marks":1,"marks":{"a":-1}}`,
		`{"tenure_marks":1,"marks":{},"more":1}`, `{"tenure_marks":1,"marks":{"a":1}}{"tenure_marks":1,"marks":{}}`,
	} {
		path := filepath.Join(t.TempDir(), "marks")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := leaderhttp.OpenFileMark(path)
		if err == nil {
			m.Close()
			t.Errorf("%q was taken for marks", text)
			continue
		}
		if !strings.Contains(err.Error(), path) {
			t.Errorf("the error does not name the file: %v", err)
		}
		if left, _ := os.ReadFile(path); string(left) != text {
			t.Errorf("%q was replaced by %q", text, left)
		}
	}
}

func TestFileMarkIsForOneProcess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no flock here")
	}
	path := filepath.Join(t.TempDir(), "marks")
	first := openMark(t, path)
	if _, err := leaderhttp.OpenFileMark(path); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second one was opened: %v", err)
	}
	first.Close()
	raise(t, openMark(t, path), "a", 1, 1)
}

func TestFileMarkClosed(t *testing.T) {
	m := openMark(t, filepath.Join(t.TempDir(), "marks"))
	raise(t, m, "a", 5, 5)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Raise(ended, "a", 6); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, token := range []uint64{5, 6} {
		if _, err := m.Raise(t.Context(), "a", token); err == nil {
			t.Errorf("closed marks were raised to %d", token)
		}
	}
	if _, err := leaderhttp.OpenFileMark(filepath.Join(t.TempDir(), "missing", "marks")); err == nil {
		t.Error("marks were opened in a directory that is not there")
	}
}
