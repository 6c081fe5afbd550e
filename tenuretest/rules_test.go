package tenuretest

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

func TestRuleIDs(t *testing.T) {
	form := regexp.MustCompile(`^[A-Z]+(-[A-Z]+)+$`)
	seen := make(map[string]bool)
	for _, rule := range rules {
		if !form.MatchString(rule.id) || seen[rule.id] {
			t.Errorf("the ID %q is malformed or not unique", rule.id)
		}
		seen[rule.id] = true
	}
}

var update = flag.Bool("update", false, "write the table of rules into the README")

func TestReadmeListsRules(t *testing.T) {
	const begin, end = "<!-- rules -->\n", "<!-- end of rules -->\n"
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), begin)
	_, tail, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatalf("README.md has no place for the rules between %q and %q", begin, end)
	}
	want := head + begin + rulesTable() + end + tail
	if *update {
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Error("README.md does not list the rules as they are: go test ./tenuretest -run TestReadme -update")
	}
}

func rulesTable() string {
	var table strings.Builder
	table.WriteString("| ID | rule |\n|---|---|\n")
	for _, rule := range rules {
		fmt.Fprintf(&table, "| `%s` | %s |\n", rule.id, rule.text)
	}
	return table.String()
}

// TestRunChecksEveryRule counts what Run does with a sound store.
func TestRunChecksEveryRule(t *testing.T) {
	var opened, closed, seconds, removed atomic.Int32
	store := memory.New()
	t.Run("run", func(t *testing.T) {
		open := func(t *testing.T) tenure.Store {
			opened.Add(1)
			t.Cleanup(func() { closed.Add(1) })
			return store
		}
		second := func(*testing.T) tenure.Store { seconds.Add(1); return store }
		remove := func(_ *testing.T, election string) { removed.Add(1); store.Delete(election) }
		Run(t, open, WithSecond(second), WithDelete(remove))
		if int(closed.Load()) != len(rules) {
			t.Errorf("when Run returned %d of %d stores were closed", closed.Load(), len(rules))
		}
	})
	if int(opened.Load()) != len(rules) || seconds.Load() == 0 || removed.Load() == 0 {
		t.Errorf("%d stores, %d second clients and %d deletions for %d rules",
			opened.Load(), seconds.Load(), removed.Load(), len(rules))
	}
}

// TestRunOnUsedData runs the kit again on data that an earlier run has left behind.
func TestRunOnUsedData(t *testing.T) {
	store := memory.New()
	open := func(*testing.T) tenure.Store { return store }
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) { Run(t, open, WithSecond(open)) })
	}
}

// TestRulesKeepApart makes sure that rules which run at the same time, perhaps on the same data, write different names.
func TestRulesKeepApart(t *testing.T) {
	writer := make(map[string]string)
	for _, rule := range rules {
		var names sync.Map
		store := memory.New()
		spy := &doctored{Store: store, swap: func(w write) (tenure.Snapshot, error) {
			names.Store(w.election, true)
			return w.done()
		}}
		if rule.alone {
			continue
		}
		judge(t.Context(), rule, subject{spy, spy, store.Delete})
		names.Range(func(name, _ any) bool {
			if other, taken := writer[name.(string)]; taken {
				t.Errorf("%s and %s both write %q", other, rule.id, name)
			}
			writer[name.(string)] = rule.id
			return true
		})
	}
}

// TestFieldsAreCovered makes sure that the rules named RECORD try every field of a record, future ones included.
func TestFieldsAreCovered(t *testing.T) {
	var mu sync.Mutex
	tried := make(map[string]bool)
	store := memory.New()
	spy := &doctored{Store: store, swap: func(w write) (tenure.Snapshot, error) {
		mu.Lock()
		defer mu.Unlock()
		note(tried, reflect.ValueOf(w.record))
		return w.done()
	}}
	for _, rule := range rules {
		if strings.HasPrefix(rule.id, "RECORD-") {
			judge(t.Context(), rule, subject{store: spy})
		}
	}
	for _, of := range []any{tenure.Record{}, tenure.Request{}, tenure.Pause{}} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(of)) {
			if name := reflect.TypeOf(of).Name() + "." + field.Name; !tried[name] {
				t.Errorf("no rule writes a record with %s", name)
			}
		}
	}
}

// note adds the names of the fields that are set in a struct, and in those that it points to.
func note(tried map[string]bool, value reflect.Value) {
	for i := range value.NumField() {
		field := value.Field(i)
		if field.IsZero() {
			continue
		}
		tried[value.Type().Name()+"."+value.Type().Field(i).Name] = true
		if field.Kind() == reflect.Pointer {
			note(tried, field.Elem())
		}
	}
}

// TestAwkwardNames makes sure that the kit asks for nothing that CheckElection refuses.
func TestAwkwardNames(t *testing.T) {
	long := longNames(nonce())
	seen := make(map[string]bool)
	for _, name := range slices.Concat(awkwardNames(nonce()), twinNames(nonce()), long) {
		if err := tenure.CheckElection(name); err != nil || seen[name] {
			t.Errorf("%q occurs twice or is no name: %v", name, err)
		}
		seen[name] = true
	}
	for _, name := range long {
		if len(name) != 255 {
			t.Errorf("%q has %d bytes", name, len(name))
		}
	}
}
