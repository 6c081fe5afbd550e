package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/internal/testserver"
)

// dirs returns the directories of packages, in the order in which they are tested.
func dirs(jobs []job) (dirs []string) {
	for _, j := range jobs {
		dirs = append(dirs, j.dir)
	}
	return dirs
}

// Every line of the table is that of some package, its servers are those of servers.txt, and every package has a line.
func TestTable(t *testing.T) {
	all, err := parseTable(table)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	pkgs, err := workspace()
	if errors.Is(err, errNoWorkspace) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	used := make([]bool, len(all))
	for _, p := range pkgs {
		i := place(all, p.dir)
		if i < 0 {
			t.Errorf("packages.txt has no line for %s", p.dir)
			continue
		}
		used[i] = true
		if all[i].all == out && leavesTests(t, p.abs) {
			t.Errorf("%s has tests that are skipped with -short, and packages.txt keeps it from make test-all", p.dir)
		}
	}
	servers := testserver.Programs(true)
	for i, l := range all {
		if !used[i] {
			t.Errorf("packages.txt: no package with tests goes by the line of %s", l.dir)
		}
		for _, s := range l.servers {
			if !slices.Contains(servers, s) {
				t.Errorf("packages.txt: %s needs %s, which servers.txt does not have", l.dir, s)
			}
		}
	}
}

// leavesTests reports whether tests of a directory leave something out of a short run.
func leavesTests(t *testing.T, dir string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err != nil || strings.Contains(string(text), "testing.Short"+"()")
	})
}

// Together make test and make test-all leave out no package.
func TestNothingIsLeftOutByBoth(t *testing.T) {
	all, err := parseTable("a plain -\nb - race\nb/c plain race\n")
	if err != nil {
		t.Fatal(err)
	}
	pkgs := []pkg{{dir: "b/c/d"}, {dir: "b"}, {dir: "a/x"}}
	quick, err := choose(all, pkgs, options{})
	if err != nil {
		t.Fatal(err)
	}
	rest, err := choose(all, pkgs, options{all: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := dirs(quick.jobs); !slices.Equal(got, []string{"a/x", "b/c/d"}) || !quick.jobs[0].short {
		t.Errorf("make test tests %+v", quick.jobs)
	}
	if !slices.Equal(quick.left, []string{"b"}) {
		t.Errorf("make test leaves %q to make test-all", quick.left)
	}
	if got := dirs(rest.jobs); !slices.Equal(got, []string{"b", "b/c/d"}) || rest.jobs[0].short || rest.jobs[1].mode != race {
		t.Errorf("make test-all tests %+v", rest.jobs)
	}
}

// Only a run of everything keeps tests from servers: those of one directory would be skipped for a server that its line
// of the table does not name.
func TestServersOfARun(t *testing.T) {
	confined := func(variable string) bool { return strings.HasPrefix(variable, "TENURE_SERVERS=") }
	t.Setenv("TENURE_SERVERS", "") // so that it is restored
	os.Unsetenv("TENURE_SERVERS")
	if all := (options{}).environment([]string{"a", "b"}); !slices.Contains(all, "TENURE_SERVERS=a b") {
		t.Errorf("a run of everything has %q", all)
	}
	if one := (options{dir: "stores/b"}).environment([]string{"a"}); slices.ContainsFunc(one, confined) {
		t.Errorf("a run of one directory has %q", one)
	}
}

// One directory is tested whole, with the servers that it needs, even if make test leaves it out.
func TestOneDirectory(t *testing.T) {
	all, err := parseTable("stores/a plain race redis-server\nstores/b - race etcd bash\nstores plain -\n")
	if err != nil {
		t.Fatal(err)
	}
	pkgs := []pkg{{dir: "stores/a"}, {dir: "stores/b"}, {dir: "stores/bb"}}
	p, err := choose(all, pkgs, options{dir: "stores/b"})
	if err != nil {
		t.Fatal(err)
	}
	if got := dirs(p.jobs); !slices.Equal(got, []string{"stores/b"}) || p.jobs[0].short || p.jobs[0].mode != race {
		t.Errorf("tested is %+v", p.jobs)
	}
	if !slices.Equal(p.servers, []string{"bash", "etcd"}) {
		t.Errorf("the servers are %q", p.servers)
	}
	if _, err := choose(all, pkgs, options{dir: "stores/c"}); err == nil || !strings.Contains(err.Error(), "stores/c") {
		t.Errorf("of a directory without tests: %v", err)
	}
}

func TestWrongTables(t *testing.T) {
	for text, want := range map[string]string{
		"a":           "no column",
		"a quick -":   "use plain, race or -",
		"a plain all": "use plain, race or -",
		"a - -":       "never tested",
	} {
		if _, err := parseTable(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// No two binaries of a batch have one name, and a batch is of one mode.
func TestBatches(t *testing.T) {
	jobs := []job{
		{pkg: pkg{path: "m/guard"}, mode: plain},
		{pkg: pkg{path: "m/a/guard"}, mode: plain},
		{pkg: pkg{path: "m/x"}, mode: race},
		{pkg: pkg{path: "m/y"}, mode: plain},
	}
	binaries, compiled := map[string]bool{}, 0
	for _, b := range batches(jobs, "dir") {
		for _, j := range b.jobs {
			compiled++
			if binaries[b.binary(j)] || j.mode != b.mode {
				t.Errorf("%s is compiled to %s, %s", j.path, b.binary(j), b.mode)
			}
			binaries[b.binary(j)] = true
		}
	}
	if compiled != len(jobs) {
		t.Errorf("%d of %d are compiled", compiled, len(jobs))
	}
}
