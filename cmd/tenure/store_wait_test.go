package main

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestSilenceIsTold: once, however long it lasts, and its end; not where the store answers soon.
func TestSilenceIsTold(t *testing.T) {
	const waiting = "level=WARN msg=\"the store does not answer yet; waiting for it\"\n"
	for name, c := range map[string]struct {
		after time.Duration
		err   error
		want  string
	}{
		"soon":         {after: silentFor - 1},
		"late":         {after: time.Minute, want: waiting + "level=INFO msg=\"the store answers\" after=1m0s\n"},
		"never":        {after: time.Minute, err: errors.New("no"), want: waiting},
		"soon, failed": {err: errors.New("no")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				told := tellSilence(slog.New(slog.NewTextHandler(&out, nil)))
				time.Sleep(c.after)
				synctest.Wait()
				told(c.err)
				if got := regexp.MustCompile(`(?m)^time=\S+ `).ReplaceAllString(out.String(), ""); got != c.want {
					t.Errorf("it said %q, want %q", got, c.want)
				}
			})
		})
	}
}

// TestLeadersTellThatTheStoreIsSilent, without its URL, which may hold a password.
func TestLeadersTellThatTheStoreIsSilent(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts connections, and nobody reads
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	store := "memcached://" + silent.Addr().String() + "/secret?timeout=5s" // far longer than is silent
	for _, args := range [][]string{{"run", "--election", "a", "--", "true"}, {"serve", "--election", "a"}} {
		o := call(t, append([]string{"--store", store}, args...)...)
		const want = `level=WARN msg="the store does not answer yet; waiting for it" store=memcached:`
		log, _, _ := strings.Cut(o.stderr, "\n")
		if o.code != codeStore || !strings.HasSuffix(log, want) || strings.Contains(log, "secret") {
			t.Errorf("%q: %+v, want a line that ends with %s", args, o, want)
		}
	}
}
