package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrongInput feeds wrong input of every kind: each gets one line that says what to do, the exit code for it, and
// no page of usage.
func TestWrongInput(t *testing.T) {
	store := newPlace(t).flag
	foreign := t.TempDir()
	write(t, filepath.Join(foreign, "store.json"), "no JSON")
	for _, c := range []struct {
		name string
		args []string
		code int
		want string // in the message
	}{
		{"unknown command", []string{"elect"}, 125, `there is no command "elect"; see "tenure --help"`},
		{"misspelt command", []string{"statu"}, 125, "did you mean status?"},
		{"unknown help topic", []string{"help", "elect"}, 125, `there is no command "elect"`},
		{"unknown flag", []string{"status", "--jsn"}, 125, `unknown flag: --jsn; see "tenure status --help"`},
		{"unknown short flag", []string{"status", "-x"}, 125, `see "tenure status --help"`},
		{"flag without a value", []string{"status", "--store"}, 125, "needs an argument"},
		{
			"global flag of the wrong type",
			[]string{"--store-timeout", "10", "list"},
			125,
			`--store-timeout: "10" is no duration: give it a unit, as in 500ms, 5s or 1m30s; see`,
		},
		{"negative timeout", []string{"--store-timeout", "-1s", "list"}, 125, "must be positive"},
		{"quiet and verbose", []string{"-q", "-v", "list"}, 125, "give one of them"},

		{"unknown scheme", []string{"--store", "zookeeper://h", "list"}, 125, `"zookeeper:" is unknown; want file:///path`},
		{"no scheme", []string{"--store", "/srv/x", "list"}, 125, `for a directory put "file:" before it`},
		{"no URL", []string{"--store", "file:///%zz", "list"}, 125, "is no URL"},
		{"two slashes", []string{"--store", "file://srv/x", "list"}, 125, "file:///srv/x"},
		{"no directory", []string{"--store", "file:", "list"}, 125, "names no directory"},
		{"unknown parameter", []string{"--store", "file:/srv/x?mod=0660", "list"}, 125, "known: mode"},
		{"parameter twice", []string{"--store", "file:/srv/x?mode=0660&mode=0600", "list"}, 125, "more than once"},
		{"mode that is no number", []string{"--store", "file:/srv/x?mode=rw", "list"}, 125, "no octal number"},
		{"mode out of bounds", []string{"--store", "file:/srv/x?mode=0700", "list"}, 125, "want 0600, 0660 or 0666"},
		{"memory with a name", []string{"--store", "memory:x", "list"}, 125, "want memory:"},
		{"memory with a parameter", []string{"--store", "memory:?x=1", "list"}, 125, "known: none"},
		{"directory that cannot be made", []string{"--store", "file:/dev/null/x", "list"}, 123, "/dev/null"},
		{"foreign directory", []string{"--store", "file:" + foreign, "list"}, 123, "store.json is damaged or foreign"},

		{"arguments where none belong", []string{store, "list", "x"}, 125, "takes no argument"},
		{"no election", []string{store, "wait"}, 125, "takes the name of one election"},
		{"two elections", []string{store, "resign", "a", "b"}, 125, "takes the name of one election"},
		{"nothing to watch", []string{store, "watch"}, 125, "needs the name of an election"},
		{"empty name", []string{store, "status", ""}, 125, "has no name"},
		{"name with a control character", []string{store, "pause", "a\nb"}, 125, "contains a control character"},
		{"name that is too long", []string{store, "pause", strings.Repeat("x", 256)}, 125, "more than 255"},
		{"name that is no text", []string{store, "pause", "\xff"}, 125, "not valid UTF-8"},

		{"nobody leads", []string{store, "resign", "a"}, 121, `nobody leads "a"`},
		{"nobody hands over", []string{store, "transfer", "a", "--to", "b"}, 121, `nobody leads "a"`},
		{"no heir", []string{store, "transfer", "a"}, 125, "--to ID"},
		{"heir that cannot be", []string{store, "transfer", "a", "--to", "\t"}, 125, "control character"},
		{"timeout without wait", []string{store, "resign", "a", "--timeout", "1s"}, 125, "--timeout needs --wait"},
		{"negative wait", []string{store, "wait", "a", "--timeout", "-1s"}, 125, "must not be negative"},
		{"negative wait for an end", []string{store, "pause", "a", "--wait", "--timeout", "-1s"}, 125, "must not be negative"},
		{"wait that is over", []string{store, "wait", "a", "--timeout", "20ms"}, 124, "within 20ms"},
		{"nothing to resume", []string{store, "resume", "a"}, 121, `there is no election "a"`},
		{"nothing to forget", []string{store, "forget", "a", "--yes"}, 121, `there is no election "a"`},

		{"probe of no address", []string{"probe", "--listen", "here"}, 125, "want HOST:PORT or unix:/path"},
		{"probe without time", []string{"probe", "--timeout", "0s"}, 125, "must be positive"},
		{"no samples", []string{store, "doctor", "--samples", "0"}, 125, "between 1 and 100000"},
		{"unknown shell", []string{"completion", "tcsh"}, 125, "bash, fish, powershell, zsh"},
		{"no shell", []string{"completion"}, 125, "name one shell"},

		{"run without an election", []string{store, "run", "true"}, 125, "--election NAME"},
		{"run without a command", []string{store, "run", "--election", "a"}, 125, "give it after --"},
		{"run with an empty command", []string{store, "run", "--election", "a", "--", ""}, 125, "no command"},
		{"TTL without a unit", []string{store, "run", "--election", "a", "--ttl", "10", "true"}, 125, `--ttl: "10" is no duration`},
		{"TTL too short", []string{store, "run", "--election", "a", "--ttl", "1ms", "true"}, 125, "want 100ms at least"},
		{"TTL too long", []string{store, "run", "--election", "a", "--ttl", "25h", "true"}, 125, "between 100ms and 24h"},
		{"TTL too fine", []string{store, "run", "--election", "a", "--ttl", "1s1us", "true"}, 125, "multiple of 1ms"},
		{"drain too short", []string{store, "run", "--election", "a", "--drain", "10ms", "true"}, 125, "want 100ms at least"},
		{"drain too long", []string{store, "run", "--election", "a", "--drain", "9s", "true"}, 125, "too little of the TTL"},
		{"negative drain", []string{store, "run", "--election", "a", "--drain", "-1s", "true"}, 125, "want 100ms at least"},
		{"priority", []string{store, "run", "--election", "a", "--priority", "1", "true"}, 125, "between -10 and 0"},
		{"restart policy", []string{store, "run", "--election", "a", "--restart", "maybe", "true"}, 125, "never, on-failure, always"},
		{"restart delay", []string{store, "run", "--election", "a", "--restart-delay", "0s", "true"}, 125, "must be positive"},
		{"signal", []string{store, "run", "--election", "a", "--signal", "FOO", "true"}, 125, `there is no signal "FOO"`},
		{"metadata", []string{store, "run", "--election", "a", "--meta", "x", "true"}, 125, `"x" is no KEY=VALUE`},
		{"metadata twice", []string{store, "run", "--election", "a", "--meta", "x=1", "--meta", "x=2", "true"}, 125, "twice"},
		{"ID", []string{store, "run", "--election", "a", "--id", "a\nb", "true"}, 125, "control character"},
	} {
		t.Run(c.name, func(t *testing.T) { checkRefusal(t, call(t, c.args...), c.code, c.want) })
	}
}

// checkRefusal checks that a call was refused in one clear line.
func checkRefusal(t *testing.T, o outcome, code int, want string) {
	t.Helper()
	line, ended := strings.CutSuffix(o.stderr, "\n")
	switch {
	case o.code != code:
		t.Errorf("exit code %d, want %d; it said %q", o.code, code, o.stderr)
	case !ended || strings.Contains(line, "\n"):
		t.Errorf("want one line, got %q", o.stderr)
	case !strings.HasPrefix(line, "tenure: ") || strings.Count(line, "tenure: ") != 1:
		t.Errorf("want one name in front, got %q", line)
	case !strings.Contains(line, want):
		t.Errorf("want %q in %q", want, line)
	case o.stdout != "":
		t.Errorf("it printed %q", o.stdout)
	}
}

// TestWrongDurations: every store says of a duration without a unit what the flags say.
func TestWrongDurations(t *testing.T) {
	for url, parameter := range map[string]string{
		"redis://127.0.0.1:1": "ping", "etcd://127.0.0.1:1": "ping", "nats://127.0.0.1:1/b": "heartbeat",
		"memcached://127.0.0.1:1": "timeout", "postgres://127.0.0.1:1/a": "poll",
		"postgres://127.0.0.1:1/b": "validate_timeout", "postgres://127.0.0.1:1/c": "pool_max_conn_idle_time",
	} {
		o := call(t, "--store", url+"?"+parameter+"=5", "list")
		checkRefusal(t, o, 125, `"5" is no duration: give it a unit, as in 500ms, 5s or 1m30s`)
		if !strings.Contains(o.stderr, parameter) {
			t.Errorf("%s: want %s in %q", url, parameter, o.stderr)
		}
	}
}

// TestWrongEnvironment: the variable of a global flag is checked as the flag is, and named in the message.
func TestWrongEnvironment(t *testing.T) {
	for variable, value := range map[string]string{
		"TENURE_QUIET": "maybe", "TENURE_VERBOSE": "x", "TENURE_STORE_TIMEOUT": "soon", "TENURE_STORE": "zookeeper:",
	} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, value)
			checkRefusal(t, call(t, "list"), 125, value)
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
