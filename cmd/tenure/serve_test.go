package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWrongServe feeds wrong flags, and what cannot be served.
func TestWrongServe(t *testing.T) {
	dir := t.TempDir()
	short := filepath.Join(dir, "short")
	write(t, short, "secret")
	taken := filepath.Join(dir, "taken")
	write(t, taken, "")
	for name, c := range map[string]struct {
		args string
		want string
	}{
		"no election":               {"", "name an election: --election NAME"},
		"argument":                  {"x", "takes no argument"},
		"unknown flag":              {"--elections x", "unknown flag"},
		"empty name":                {"--election=", "has no name"},
		"election twice":            {"--election x --campaign x", `"x" is given twice`},
		"path":                      {"--campaign ..", "part of a URL's path"},
		"ID":                        {"--election x --id \t", "control character"},
		"TTL":                       {"--election x --ttl 1ms", "between 100ms and 24h"},
		"drain":                     {"--election x --drain 10s", "drain"},
		"no drain of campaigns":     {"--campaign x --drain 0s", "want 100ms at least"},
		"priority":                  {"--election x --priority 1", "between -10 and 0"},
		"metadata":                  {"--election x --meta y", `"y" is no KEY=VALUE`},
		"address of campaigns":      {"--campaign x --address here", "need --election"},
		"no streams":                {"--election x --max-streams 0", "would serve none"},
		"too many streams":          {"--election x --max-streams 100001", "between 1 and 100000"},
		"listen":                    {"--election x --listen 8732", "want HOST:PORT or unix:/path"},
		"name to listen on":         {"--election x --listen example.org:80", "must be an IP address"},
		"socket":                    {"--election x --listen unix:s", "absolute path"},
		"socket that is a file":     {"--election x --listen unix:" + taken, "is no socket"},
		"everywhere":                {"--election x --listen :0", "have to prove who they are"},
		"everywhere with TLS alone": {"--election x --listen :0 --tls-cert c --tls-key k", "reading the TLS certificate"},
		"key alone":                 {"--election x --tls-key k", "both a certificate and its key"},
		"authority alone":           {"--election x --tls-client-ca c", "both a certificate and its key"},
		"short token":               {"--election x --token-file " + short, "has 6 bytes, want 16 at least"},
		"no token":                  {"--election x --token-file " + filepath.Join(dir, "missing"), "no such file"},
		"no configuration":          {"--config " + filepath.Join(dir, "missing"), "no such file"},
		"configuration and flags":   {"--config x --ttl 3s", "what --ttl says"},
	} {
		t.Run(name, func(t *testing.T) {
			args := strings.Fields(strings.ReplaceAll(c.args, "\t", "\x01"))
			o := call(t, append([]string{"--store=memory:", "-q", "serve"}, args...)...)
			checkRefusal(t, o, 125, c.want)
			if strings.Contains(o.stderr, "secret") {
				t.Errorf("it tells the secret: %s", o.stderr)
			}
		})
	}
}

func TestWrongConfiguration(t *testing.T) {
	for text, want := range map[string]string{
		``:              "cannot be read",
		`[]`:            "cannot unmarshal",
		`{} {}`:         "something follows",
		`{} x`:          "invalid character",
		`{"lisen": ""}`: `unknown field "lisen"`,
		`{"elections": [{"name": "x", "mode": "stand", "tll": "1s"}]}`:                 `unknown field "tll"`,
		`{"elections": [{"name": "x", "mode": "stand", "ttl": 1}]}`:                    "cannot unmarshal number",
		`{"elections": [{"name": "x", "mode": "stand", "ttl": "1"}]}`:                  `"1" is no duration: give it a unit`,
		`{"elections": [{"name": "x", "mode": "stand", "ttl": "0s"}]}`:                 "TTL 0s must be between",
		`{"elections": [{"name": "x"}]}`:                                               `neither "stand" nor "campaign"`,
		`{"elections": [{"mode": "stand"}]}`:                                           "has no name",
		`{}`:                                                                           "no election to serve",
		`{"max_streams": 0}`:                                                           "would serve none",
		`{"listen": "0.0.0.0:0", "elections": [{"name": "x", "mode": "stand"}]}`:       "have to prove who they are",
		`{"elections": [{"name": "x", "mode": "campaign", "address": "here"}]}`:        "clients bring",
		`{"token_file": "/no/such/file", "elections": [{"name":"x", "mode":"stand"}]}`: "no such file",
	} {
		path := filepath.Join(t.TempDir(), "serve.json")
		write(t, path, text)
		checkRefusal(t, call(t, "--store=memory:", "-q", "serve", "--config", path), 125, want)
	}
}

// TestConfigurationSaysWhatFlagsSay: both come to the same options.
func TestConfigurationSaysWhatFlagsSay(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	write(t, token, "0123456789abcdef")
	if err := os.Chmod(token, 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "serve.json")
	write(t, path, `{
		"listen": "0.0.0.0:80", "hosts": ["sidecar"], "token_file": "`+filepath.ToSlash(token)+`", "max_streams": 7,
		"elections": [
			{"name": "a", "mode": "stand", "ttl": "3s", "drain": "0s", "address": "here", "metadata": {"k": "v"}, "priority": -1},
			{"name": "b", "mode": "campaign"}
		]
	}`)
	plan, err := readPlan(path)
	if err != nil {
		t.Fatal(err)
	}
	o, err := plan.options()
	if err != nil {
		t.Fatal(err)
	}
	a, b := o.Elections[0], o.Elections[1]
	switch {
	case o.Address.String() != "0.0.0.0:80", o.Hosts[0] != "sidecar", o.Token != "0123456789abcdef", o.MaxStreams != 7:
		t.Errorf("got %+v", o)
	case a.Name != "a", a.Campaign, a.TTL != 3*time.Second, a.Drain != 0, a.Address != "here", a.Priority != -1, a.Metadata["k"] != "v":
		t.Errorf("got %+v", a)
	case b.Name != "b", !b.Campaign, b.TTL != 10*time.Second, b.Drain != 2*time.Second:
		t.Errorf("got %+v", b)
	}
}

// TestServeEndsWithItsContext, and with success.
func TestServeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	said, stderr := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		args := []string{"--store=memory:", "serve", "--election", "x", "--listen", "127.0.0.1:0"}
		ended <- exec(ctx, args, strings.NewReader(""), io.Discard, stderr)
		stderr.Close()
	}()
	var text strings.Builder
	for lines := bufio.NewScanner(said); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "serving") {
			cancel()
		}
	}
	if err := <-ended; err != nil || !strings.Contains(text.String(), "no other process") || ctx.Err() == nil {
		t.Errorf("it ended with %v and said %s", err, text.String())
	}
	cancel()
}
