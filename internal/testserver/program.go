package testserver

import (
	_ "embed" // for the table of servers
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed servers.txt
var table string

// program is a line of the table.
type program struct {
	name, run, from, what string
	paths                 []string
}

// Programs names the servers that make test runs against, or all that make test-all does.
func Programs(all bool) (names []string) {
	for _, p := range programs() {
		if all || p.run == "test" {
			names = append(names, p.name)
		}
	}
	return names
}

// Find returns the path of a server's program, by its name in servers.txt. Without it the test is skipped, or fails
// where servers are needed. It is skipped too if the run of tests leaves that server to another one.
func Find(tb TB, name string) string {
	tb.Helper()
	p, ok := lookUp(name)
	if !ok {
		tb.Fatalf("servers.txt has no server %q", name)
	}
	if left(name) {
		tb.Skipf("%s is left to make test-all", name)
	}
	path, err := p.find()
	switch {
	case err == nil:
	case os.Getenv("TENURE_NEED_SERVERS") != "":
		tb.Fatalf("%v, and TENURE_NEED_SERVERS is set: %s", err, p.advice())
	default:
		tb.Skipf("%v: %s", err, p.advice())
	}
	return path
}

// left reports whether TENURE_SERVERS is set and does not name a server.
func left(name string) bool {
	only, set := os.LookupEnv("TENURE_SERVERS")
	return set && !slices.Contains(strings.Fields(only), name)
}

// Missing returns why a server's program is not found, and how to get it; nil if it is.
func Missing(name string) error {
	p, ok := lookUp(name)
	if !ok {
		return fmt.Errorf("servers.txt has no server %q", name)
	}
	if _, err := p.find(); err != nil {
		return fmt.Errorf("%w: %s", err, p.advice())
	}
	return nil
}

func lookUp(name string) (program, bool) {
	for _, p := range programs() {
		if p.name == name {
			return p, true
		}
	}
	return program{}, false
}

func programs() []program {
	var all []program
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) < 4 || words[0] == "#" {
			continue
		}
		all = append(all, program{words[0], words[1], words[2], words[3], words[4:]})
	}
	return all
}

// find looks in the places that the package comment names, in that order.
func (p program) find() (string, error) {
	variable := "TENURE_SERVER_" + strings.ToUpper(strings.ReplaceAll(p.name, "-", "_"))
	if path := os.Getenv(variable); path != "" {
		if !executable(path) {
			return "", fmt.Errorf("%s=%s is no program", variable, path)
		}
		return path, nil
	}
	for _, pattern := range append(p.cached(), p.paths...) {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return "", fmt.Errorf("servers.txt: %s: %w", pattern, err)
		}
		for _, path := range slices.Backward(found) { // the newest version, by name
			if executable(path) {
				return path, nil
			}
		}
	}
	if p.from != "apt" { // another version on PATH is not the one that the tests were written for
		return "", fmt.Errorf("%s (%s) is not in the cache", p.name, p.what)
	}
	path, err := exec.LookPath(p.name)
	if err != nil {
		return "", fmt.Errorf("%s is not installed", p.name)
	}
	return path, nil
}

// cached returns where .ci/servers puts the program, if it builds or fetches it.
func (p program) cached() []string {
	cache := os.Getenv("TENURE_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil
		}
		cache = filepath.Join(dir, "tenure")
	}
	dir := filepath.Join(cache, "servers", strings.ReplaceAll(p.what, "/", "_"))
	switch p.from {
	case "go", "mod":
		return []string{filepath.Join(dir, p.name)}
	case "npm":
		return []string{filepath.Join(dir, "node_modules", ".bin", p.name)}
	}
	return nil
}

func (p program) advice() string { return "get it with: bash .ci/servers " + p.name }

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// versionOf returns the version that servers.txt names of a program that is built.
func versionOf(name string) string {
	p, _ := lookUp(name)
	_, version, _ := strings.Cut(p.what, "@")
	return version
}
