package deploytest

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/testserver"
)

const units = deployed + "/systemd"

// unit is a unit file: the values of its settings in their order.
type unit map[string][]string

func readUnit(t *testing.T, name string) unit {
	t.Helper()
	u := unit{}
	for line := range strings.Lines(read(t, filepath.Join(units, name))) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(key, "#") {
			u[key] = append(u[key], value)
		}
	}
	return u
}

func (u unit) last(t *testing.T, key string) string {
	t.Helper()
	values := u[key]
	if len(values) == 0 {
		t.Fatalf("there is no %s=", key)
	}
	return values[len(values)-1]
}

func (u unit) seconds(t *testing.T, key string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(u.last(t, key) + "s")
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return d
}

// variables are those of an environment file.
func variables(t *testing.T, name string) []string {
	t.Helper()
	var all []string
	for line := range strings.Lines(read(t, name)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

// TestUnitsAreAccepted by systemd: no unknown setting or section, no value that cannot be read.
func TestUnitsAreAccepted(t *testing.T) {
	analyze := testserver.Find(t, "systemd-analyze")
	files, err := filepath.Glob(units + "/*.[st]*e*")
	if err != nil {
		t.Fatal(err)
	}
	// What systemd checks besides is whether the programs are there, which they are where it is deployed.
	absent := regexp.MustCompile(`(?m)^\S+: Command \S+ is not executable: No such file or directory\n`)
	checked := 0
	for _, name := range files {
		if ext := filepath.Ext(name); ext != ".service" && ext != ".timer" {
			continue
		}
		checked++
		cmd := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", "--recursive-errors=no", name)
		cmd.Env = append(os.Environ(), "SYSTEMD_LOG_LEVEL=warning", "SYSTEMD_LOG_TARGET=console", "SYSTEMD_LOG_COLOR=0")
		out, err := cmd.CombinedOutput()
		left := absent.ReplaceAllString(string(out), "")
		if err != nil && len(out) == 0 || strings.Contains(left, filepath.Base(name)) || strings.Contains(left, "@i.") {
			t.Errorf("%s: %v\n%s", filepath.Base(name), err, left)
		}
	}
	if checked < 4 {
		t.Errorf("only %d units were found", checked)
	}
}

// TestUnitsAreConfined: systemd's own estimate of what a service that was taken over could do, from 0 (nothing) to 10.
func TestUnitsAreConfined(t *testing.T) {
	analyze := testserver.Find(t, "systemd-analyze")
	for name, most := range map[string]int{"tenure-serve.service": 12, "tenure-run@.service": 26} { // in tenths
		out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--no-pager",
			fmt.Sprintf("--threshold=%d", most), filepath.Join(units, name)).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "Overall exposure level") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// TestUnitsGiveTimeToStop: systemd kills a service only when its seat has certainly been given back or cannot be.
func TestUnitsGiveTimeToStop(t *testing.T) {
	var config struct {
		Elections []struct{ TTL string }
	}
	if err := json.Unmarshal([]byte(read(t, units+"/serve.json")), &config); err != nil {
		t.Fatal(err)
	}
	longest := time.Duration(0)
	for _, e := range config.Elections {
		ttl, err := time.ParseDuration(e.TTL)
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, ttl)
	}
	if got, want := readUnit(t, "tenure-serve.service").seconds(t, "TimeoutStopSec"), 3*longest+10*time.Second; got < want {
		t.Errorf("the sidecar has %v to stop, and may need %v", got, want)
	}
	const ttl = 10 * time.Second
	if got := readUnit(t, "tenure-run@.service").seconds(t, "TimeoutStopSec"); got < 2*ttl {
		t.Errorf("a command has %v to stop, and a lease of %v may be renewed till its end", got, ttl)
	}
}

// localize makes a command line of a unit one that can be run beside it: by the command that was built, in a directory.
func localize(t *testing.T, line, dir string, env []string) []string {
	t.Helper()
	var args []string
	for word := range strings.FieldsSeq(line) {
		name, isVariable := strings.CutPrefix(word, "$")
		switch {
		case isVariable:
			for _, v := range env {
				if value, ok := strings.CutPrefix(v, name+"="); ok {
					args = append(args, strings.Fields(value)...)
				}
			}
		case word == "/usr/local/bin/tenure":
			args = append(args, command(t))
		case strings.HasPrefix(word, "/etc/tenure/"):
			args = append(args, filepath.Join(dir, filepath.Base(word)))
		default:
			args = append(args, strings.ReplaceAll(word, "%i", "relay"))
		}
	}
	return args
}

// TestUnitServes runs the command line of the sidecar's unit, with its example configuration on another port.
func TestUnitServes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := "file://" + filepath.Join(dir, "elections")
	port := freePort(t)
	config := strings.Replace(read(t, units+"/serve.json"), ":8732", ":"+port, 1)
	write(t, filepath.Join(dir, "serve.json"), config, 0o600)
	line := readUnit(t, "tenure-serve.service").last(t, "ExecStart")
	p := start(t, []string{"TENURE_STORE=" + store, "TENURE_ID=host-a"}, localize(t, line, dir, nil)...)
	eventually(t, "the sidecar leads", func() bool {
		body, err := ask(t, "http://127.0.0.1:"+port+"/leader?election=timers")
		return err == nil && body == `{"name":"host-a"}`+"\n"
	})
	if s := look(t, store, "timers"); s.State != "held" || s.Leader != "host-a" {
		t.Errorf("got %+v", s)
	}
	if code := p.terminate(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	if s := look(t, store, "timers"); s.State != "vacant" || s.Token != 1 {
		t.Errorf("afterwards: %+v", s)
	}
}

// TestUnitRuns runs the command line of the unit that wraps a command, with its example environment.
func TestUnitRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := "file://" + filepath.Join(dir, "elections")
	relay := filepath.Join(dir, "relay")
	write(t, relay, "#!/bin/sh\necho begun $TENURE_TOKEN $*\nexec sleep 1000\n", 0o755)
	env := variables(t, units+"/relay.env")
	i := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, "COMMAND=/usr/local/bin/relay") })
	if i < 0 {
		t.Fatalf("the example runs no relay: %q", env)
	}
	env[i] = strings.Replace(env[i], "/usr/local/bin/relay", relay, 1)
	line := readUnit(t, "tenure-run@.service").last(t, "ExecStart")
	p := start(t, []string{"TENURE_STORE=" + store, "TENURE_ID=host-a"}, localize(t, line, dir, env)...)
	eventually(t, "the command runs", func() bool { return strings.Contains(p.out.String(), "begun 1 --verbose\n") })
	if s := look(t, store, "relay"); s.State != "held" || s.Leader != "host-a" {
		t.Errorf("got %+v", s)
	}
	if code := p.terminate(); code != 143 {
		t.Errorf("it ended with %d", code)
	}
	if s := look(t, store, "relay"); s.State != "vacant" || s.Token != 1 {
		t.Errorf("afterwards: %+v", s)
	}
}

// TestExampleStoresAreKnown: each URL in the environment file, commented out or not, names a store of the command.
func TestExampleStoresAreKnown(t *testing.T) {
	found := 0
	for line := range strings.Lines(read(t, units+"/tenure.env")) {
		store, ok := strings.CutPrefix(strings.TrimLeft(strings.TrimSpace(line), "#"), "TENURE_STORE=")
		if !ok {
			continue
		}
		found++
		if strings.HasPrefix(store, "file:") {
			continue // TestUnitServes has one
		}
		checkStore(t, store)
	}
	if found < 2 {
		t.Errorf("only %d stores were found", found)
	}
}

// checkStore checks that the command can read the URL of a store that cannot be reached.
func checkStore(t *testing.T, store string, env ...string) {
	t.Helper()
	if _, errs, code := tenure(t, env, "--store", store, "--store-timeout", "1ms", "list"); code != 123 {
		t.Errorf("the store %s: exit code %d: %s", store, code, errs)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	_, port, err := net.SplitHostPort(testserver.Addr(testserver.Port(t)))
	if err != nil {
		t.Fatal(err)
	}
	return port
}
