package natskv

import (
	"context"
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// users are lines of configuration with users besides the administrator.
func users(more string) string {
	return "authorization {users: [{user: admin, password: admin}, " + more + "]}"
}

// A user whose rights are taken away while it is connected goes on when they are back, whatever the server did to its
// connection meanwhile.
func TestRightsAreTakenAwayAndGivenBack(t *testing.T) {
	permitted := users("{user: u, password: secret}")
	for _, c := range []struct {
		name, without string
		interrupts    bool // the watch
	}{
		{"the user", users(""), true},
		{"all rights", users(`{user: u, password: secret, permissions: {publish: {deny: ">"}, subscribe: {deny: ">"}}}`), true},
		{"to subscribe", users(`{user: u, password: secret, permissions: {subscribe: {deny: ">"}}}`), true},
		{"to publish", users(`{user: u, password: secret, permissions: {publish: {deny: ">"}}}`), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := testserver.StartNATS(t, permitted)
			s := openStore(t, "u:secret@"+server.Addr, "elections?heartbeat=200ms")
			created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
			deliveries := storetest.Watch(t, s, "billing")
			storetest.Await(t, deliveries, "the record", storetest.At(created.Version))
			reconfigure(t, server, c.without)
			if c.interrupts {
				storetest.Await(t, deliveries, "the interruption", storetest.Failed)
			}
			if err := load(s, 100*time.Millisecond); err == nil {
				t.Error("the record was read without the right to")
			}
			reconfigure(t, server, permitted)
			storetest.Eventually(t, "the record is read again", func() bool { return load(s, time.Second) == nil })
			if c.interrupts {
				storetest.Await(t, deliveries, "the record", storetest.At(created.Version))
			}
			renewed := storetest.Swap(t, s, "billing", created.Version, storetest.Held(2, "a"))
			storetest.Await(t, deliveries, "the renewal", storetest.At(renewed.Version))
		})
	}
}

func load(s *Store, within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	_, err := s.Load(ctx, "billing")
	return err
}

func reconfigure(t *testing.T, server *testserver.NATS, config ...string) {
	t.Helper()
	if err := server.Reconfigure(config...); err != nil {
		t.Fatal(err)
	}
}
