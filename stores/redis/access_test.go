package redis

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/tenuretest"
)

// rights returns the words of the rule that the README gives for a user: with all rights that it lists, or with those
// that every candidate needs alone.
func rights(t *testing.T, all bool) []string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	must(t, err)
	rule := regexp.MustCompile(`(?s)ACL SETUSER tenure on >secret (.*?)\n` + "```").FindSubmatch(text)
	if rule == nil {
		t.Fatal("the README has no rule for a user")
	}
	words := strings.Fields(strings.ReplaceAll(string(rule[1]), "\\\n", " "))
	if all {
		for _, row := range regexp.MustCompile("(?m)^\\| `(\\+[^`]*)` \\|").FindAllSubmatch(text, -1) {
			right := strings.ReplaceAll(string(row[1]), `\|`, "|") // in a table the bar is escaped
			words = append(words, strings.Fields(right)...)
		}
	}
	return words
}

func allow(server *testserver.Redis, words []string) {
	server.MustDo("ACL SETUSER tenure reset on >secret " + strings.Join(words, " "))
}

func asUser(o *redis.Options) { o.Username, o.Password = "tenure", "secret" }

func TestConformanceWithMinimalRights(t *testing.T) {
	server := testserver.StartRedis(t)
	allow(server, rights(t, true))
	open := func(t *testing.T) tenure.Store { return newStore(t, newClient(t, server.Addr, asUser)) }
	tenuretest.Run(t, open, tenuretest.WithSecond(open))
}

func TestConformanceOfClusterWithMinimalRights(t *testing.T) {
	nodes := testserver.StartRedisCluster(t, 2)
	var addrs []string
	for _, n := range nodes {
		allow(n, rights(t, true))
		addrs = append(addrs, n.Addr)
	}
	open := func(t *testing.T) tenure.Store {
		client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, Username: "tenure", Password: "secret"})
		t.Cleanup(func() { client.Close() })
		return newStore(t, client)
	}
	tenuretest.Run(t, open, tenuretest.WithSecond(open))
}

// A candidate works with the rights that the README gives to every user, and would not without one of them.
func TestEveryRightIsNeeded(t *testing.T) {
	server := testserver.StartRedis(t)
	base := rights(t, false)
	allow(server, base)
	if err := tryEverything(t, server, "all"); err != nil {
		t.Fatalf("with all rights: %v", err)
	}
	for i, word := range base {
		if !strings.HasPrefix(word, "+") && word[0] != '~' && word[0] != '&' {
			continue
		}
		allow(server, slices.Delete(slices.Clone(base), i, i+1))
		server.MustDo("SCRIPT FLUSH")
		if err := tryEverything(t, server, word); err == nil {
			t.Errorf("without %s everything works as well", word)
		} else if !strings.Contains(err.Error(), tenure.ErrPermanent.Error()) && word != "+unsubscribe" {
			t.Errorf("without %s the error is %v, want one that is permanent", word, err)
		}
	}
}

// tryEverything does what a candidate does, and returns the first error.
func tryEverything(t *testing.T, server *testserver.Redis, election string) error {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: server.Addr, Username: "tenure", Password: "secret"})
	defer client.Close()
	s, err := New(client)
	must(t, err)
	defer s.Close()
	if err := client.Ping(context.Background()).Err(); err != nil {
		return failed(err)
	}
	delivered := make(chan error, 100)
	stop, err := s.Watch(t.Context(), election, func(_ tenure.Snapshot, err error) { delivered <- err })
	must(t, err)
	defer stop()
	if err := <-delivered; err != nil {
		return err
	}
	first, err := s.CompareAndSwap(t.Context(), election, "", leader(1, "one"))
	if err != nil {
		return err
	}
	if err := <-delivered; err != nil {
		return err
	}
	if _, err = s.CompareAndSwap(t.Context(), election, first.Version, leader(2, "two")); err != nil {
		return err
	}
	return tryToLeave(t, s, server, election+"-left")
}

// tryToLeave ends one watch while another goes on.
func tryToLeave(t *testing.T, s *Store, server *testserver.Redis, election string) error {
	t.Helper()
	subscribers := func() string { return server.MustDo("PUBSUB NUMSUB " + s.layout.channel(election)) }
	if _, err := s.Load(t.Context(), election); err != nil {
		return err
	}
	delivered := make(chan error, 100)
	stop, err := s.Watch(t.Context(), election, func(_ tenure.Snapshot, err error) { delivered <- err })
	must(t, err)
	if err := <-delivered; err != nil {
		return err
	}
	server.MustDo("ACL LOG RESET")
	stop()
	storetest.Eventually(t, "the subscription ends", func() bool { return strings.HasSuffix(subscribers(), "\n0\n") })
	if log := server.MustDo("ACL LOG"); strings.Contains(log, "unsubscribe") {
		return fmt.Errorf("the server has refused: %s", log)
	}
	return nil
}
