package main

import (
	"maps"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/testserver"
)

// servers start a real server for each kind of store, by its scheme and perhaps mode, and return the URL of a store.
var servers = map[string]func(t *testing.T) string{
	"postgres":          func(t *testing.T) string { return testserver.StartPostgres(t).URL() + "&table=elections" },
	"postgres advisory": func(t *testing.T) string { return testserver.StartPostgres(t).URL() + "&mode=advisory" },
	"mysql": func(t *testing.T) string {
		m := testserver.StartMariaDB(t)
		return "mysql://" + m.User + ":" + m.Password + "@" + m.Addr + "/" + m.Database
	},
	"sqlite":    func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "elections.db") },
	"nats":      func(t *testing.T) string { return "nats://" + testserver.StartNATS(t).Addr + "/elections" },
	"etcd":      func(t *testing.T) string { return "etcd://" + testserver.StartEtcd(t).Addr },
	"redis":     func(t *testing.T) string { return "redis://" + testserver.StartRedis(t).Addr },
	"memcached": func(t *testing.T) string { return "memcached://" + testserver.StartMemcached(t).Addr },
	"azblob": func(t *testing.T) string {
		a := testserver.StartAzurite(t)
		t.Setenv("AZURE_STORAGE_KEY", a.Key)
		return "azblob://" + a.Account + "/elections?create=true&endpoint=" + a.Endpoint(a.Addr)
	},
	"s3": func(t *testing.T) string {
		v := testserver.StartVersityGW(t)
		t.Setenv("AWS_ACCESS_KEY_ID", v.AccessKey)
		t.Setenv("AWS_SECRET_ACCESS_KEY", v.SecretKey)
		return "s3://" + v.Bucket + "/tests?path-style=true&endpoint=" + v.Endpoint()
	},
}

// TestEveryStore has each subcommand use each kind of store, on its real server.
func TestEveryStore(t *testing.T) {
	tested := map[string]bool{"file": true, "memory": true} // by tests of their own
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		scheme, _, _ := strings.Cut(name, " ")
		tested[scheme] = true
		t.Run(name, func(t *testing.T) { useStore(t, servers[name](t)) })
	}
	for _, s := range schemes {
		if !tested[s.names[0]] {
			t.Errorf("there is no server to test %q with", s.names[0])
		}
	}
}

// useStore goes through the life of an election as its operator would.
func useStore(t *testing.T, url string) {
	t.Helper()
	store := "--store=" + url
	must(t, store, "migrate")
	must(t, store, "doctor", "--samples", "20")
	if got := leadOnce(t, store); got != "1\n" {
		t.Errorf("the first term has token %q", got)
	}
	must(t, store, "pause", "x", "--reason", "maintenance")
	if o := call(t, store, "status", "x"); o.code != codeVacant || !strings.Contains(o.stdout, "maintenance") {
		t.Errorf("the status is %+v", o)
	}
	must(t, store, "resume", "x")
	if got := leadOnce(t, store); got != "2\n" {
		t.Errorf("the second term has token %q", got)
	}
	must(t, store, "forget", "x", "--yes")
	if got := leadOnce(t, store); got != "3\n" {
		t.Errorf("after the election was forgotten, its next term has token %q", got)
	}
	listStore(t, store)
	demonstrate(t, store)
}

// leadOnce runs a command under the next term, and returns that term's token.
func leadOnce(t *testing.T, store string) string {
	t.Helper()
	cmd := osexec.Command(os.Args[0], store, "-q", "run", "--election", "x", "--once", "--", "sh", "-c", "echo $TENURE_TOKEN")
	cmd.Env = append(os.Environ(), roleVariable+"=tenure")
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tenure run: %v", err)
	}
	return string(out)
}

// listStore checks list and prune on stores that have them.
func listStore(t *testing.T, store string) {
	t.Helper()
	o := call(t, store, "list")
	if o.code == codeFailed && strings.Contains(o.stderr, "cannot list") {
		return
	}
	if o.stdout != "x\n" {
		t.Errorf("the elections are %q, %s", o.stdout, o.stderr)
	}
	if got := must(t, store, "prune", "--yes", "--unused", "0"); !strings.Contains(got, "x\n") {
		t.Errorf("pruned were %q", got)
	}
	if got := leadOnce(t, store); got <= "3\n" {
		t.Errorf("after the record was deleted, the next term has token %q", got)
	}
}

// demonstrate has real processes lead over the store while leaders are killed and frozen. The demo ends with another
// code than 0 if two led at once, or tokens fell.
func demonstrate(t *testing.T, store string) {
	t.Helper()
	began := time.Now()
	p := startDemo(t, store, "--for", "8s", "--seed", "4")
	if code := p.end(); code != 0 {
		t.Errorf("after %v the demo ended with %d:\n%s", time.Since(began), code, strings.Join(p.output, "\n"))
	}
}
