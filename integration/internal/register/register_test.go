//go:build linux

package register

import (
	"testing"

	"github.com/tenure-go/tenure/integration/internal/history"
)

func TestFencedRegister(t *testing.T) {
	for _, c := range []struct {
		name     string
		unfenced bool
		stale    string
	}{{"fenced", false, history.Refused}, {"unfenced", true, history.OK}} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Serve(c.unfenced)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			dir := t.TempDir()
			w, err := history.Create(dir, "a", 1)
			if err != nil {
				t.Fatal(err)
			}
			client := NewClient(s.Addr(), "a", w)
			defer client.Close()
			steps := []struct {
				kind, want string
				token      uint64
				value      int64
			}{
				{history.Write, history.OK, 2, 7},
				{history.Read, history.OK, 0, 7},
				{history.Read, history.OK, 3, 7},
				{history.Write, c.stale, 2, 8},
				{history.Write, history.OK, 3, 9},
				{history.Read, history.OK, 3, 9},
			}
			for i, step := range steps {
				var outcome string
				value := step.value
				if step.kind == history.Write {
					outcome, err = client.Write("r", false, step.token, step.value)
				} else {
					value, outcome, err = client.Read("r", false, step.token)
				}
				if outcome != step.want || value != step.value || err != nil {
					t.Errorf("step %d: %s %d, %v; want %s %d", i, outcome, value, err, step.want, step.value)
				}
			}
			if last, _ := s.Last(); last.Process != "a" || last.Token != 3 {
				t.Errorf("the last write is %+v", last)
			}
			if events, err := history.ReadDir(dir); err != nil || len(events) != 2*len(steps) {
				t.Errorf("%d events, %v", len(events), err)
			}
		})
	}
}

// Reads tells of a leader's next accepted read, and of nobody else's.
func TestReads(t *testing.T) {
	s, err := Serve(false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	read, again := s.Reads("a"), s.Reads("a")
	for _, r := range []Request{
		{"b", history.Write, "r", 2, 7}, // others' operations, an onlooker's read, a refused one, a write
		{"b", history.Read, "r", 2, 0},
		{"a", history.Read, "r", 0, 0},
		{"a", history.Read, "r", 1, 0},
		{"a", history.Write, "r", 2, 8},
	} {
		s.do(r)
		select {
		case <-read:
			t.Fatalf("%+v was taken for the read of a leader", r)
		default:
		}
	}
	s.do(Request{"a", history.Read, "r", 2, 0})
	for _, told := range []<-chan struct{}{read, again} {
		select {
		case <-told:
		default:
			t.Error("the read was not told of")
		}
	}
	select {
	case <-s.Reads("a"):
		t.Error("the next read was told of before it came")
	default:
	}
}
