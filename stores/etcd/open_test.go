package etcd

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

func TestOpenWithoutAServer(t *testing.T) {
	addr := testserver.Addr(testserver.Port(t))
	if _, err := Open(t.Context(), "etcd://u:secret@"+addr); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("Open without a server returned %v", err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, user := range []string{"", "u:secret@"} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := Open(ctx, "etcd://"+user+silent.Addr().String()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Open of a server that does not answer returned %v, want the end of the context", err)
		}
		cancel()
	}
}

// withUsers is a server that asks who one is. The user elector has the rights that README.md names, reader to read.
func withUsers(t *testing.T) *testserver.Etcd {
	t.Helper()
	server := testserver.StartEtcd(t)
	client := connect(t, server.Addr)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for user, kind := range map[string]clientv3.PermissionType{
		"elector": clientv3.PermissionType(clientv3.PermReadWrite), "reader": clientv3.PermissionType(clientv3.PermRead),
	} {
		_, err := client.RoleAdd(t.Context(), user)
		must(err)
		_, err = client.RoleGrantPermission(t.Context(), user, DefaultPrefix, clientv3.GetPrefixRangeEnd(DefaultPrefix), kind)
		must(err)
		_, err = client.UserAdd(t.Context(), user, "p@ss")
		must(err)
		_, err = client.UserGrantRole(t.Context(), user, user)
		must(err)
	}
	_, err := client.UserAdd(t.Context(), "root", "root")
	must(err)
	_, err = client.UserGrantRole(t.Context(), "root", "root")
	must(err)
	_, err = client.AuthEnable(t.Context())
	must(err)
	return server
}

// The rights that README.md names are enough for everything.
func TestMinimalRights(t *testing.T) {
	server := withUsers(t)
	s := openStore(t, "elector:p%40ss@"+server.Addr, "")
	f := fleet.New(t)
	defer f.Check()
	stop := f.Stand(s, "a")
	f.Next()
	stop()
	deliveries := storetest.Watch(t, s, "fleet")
	storetest.Await(t, deliveries, "the vacancy", func(d storetest.Delivery) bool { return d.Snapshot.Exists() && d.Snapshot.Record.Vacant() })
	if listed, err := s.List(t.Context()); err != nil || len(listed) != 1 {
		t.Errorf("List returned %q, %v", listed, err)
	}
	if _, err := s.Guarantee(t.Context()); err != nil {
		t.Error(err)
	}
	storetest.Prune(t, s, "fleet")

	reader := openStore(t, "reader:p%40ss@"+server.Addr, "")
	storetest.Await(t, storetest.Watch(t, reader, "fleet"), "the missing record", storetest.At(""))
	_, err := reader.CompareAndSwap(t.Context(), "fleet", "", storetest.Held(100, "reader"))
	storetest.Want(t, storetest.Permanent, err)
	elsewhere, err := Open(t.Context(), "etcd://elector:p%40ss@"+server.Addr+"/elsewhere")
	if !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("Open below a prefix without rights returned %v, %v, want ErrPermanent", elsewhere, err)
	}
}

func TestWrongUsers(t *testing.T) {
	server := withUsers(t)
	for _, who := range []string{"", "elector:secret@", "nobody:secret@"} {
		_, err := Open(t.Context(), "etcd://"+who+server.Addr)
		if !errors.Is(err, tenure.ErrPermanent) || strings.Contains(err.Error(), "secret") {
			t.Errorf("Open as %q returned %v, want ErrPermanent without the password", who, err)
		}
	}
}

// A right that is taken away is a permanent error, and the store goes on when it is back. So it does after a login has
// run out, as one does when the server restarts.
func TestRightsComeAndGo(t *testing.T) {
	server := withUsers(t)
	s := openStore(t, "elector:p%40ss@"+server.Addr, "")
	root, err := clientv3.New(clientv3.Config{Endpoints: []string{server.Addr}, Username: "root", Password: "root"})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	current := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	deliveries := storetest.Watch(t, s, "billing")
	storetest.Await(t, deliveries, "the record", storetest.At(current.Version))
	if _, err := root.UserRevokeRole(t.Context(), "elector", "elector"); err != nil {
		t.Fatal(err)
	}
	storetest.Eventually(t, "a write is denied", func() bool {
		_, err := s.CompareAndSwap(t.Context(), "billing", current.Version, storetest.Held(2, "b"))
		if outcome := storetest.OutcomeOf(err); outcome != storetest.Permanent && outcome != storetest.NotApplied {
			t.Fatalf("a write without rights returned %v", err)
		}
		return storetest.OutcomeOf(err) == storetest.Permanent
	})
	if _, err := root.UserGrantRole(t.Context(), "elector", "elector"); err != nil {
		t.Fatal(err)
	}
	current = change(t, s, storetest.Held(2, "b"))
	storetest.Await(t, deliveries, "the change", storetest.At(current.Version))
	server.Restart()
	current = change(t, s, storetest.Held(3, "c"))
	storetest.Await(t, deliveries, "the change after the restart", storetest.At(current.Version))
}

func TestTLS(t *testing.T) {
	cert, key := testserver.Certificate(t)
	addr := testserver.Addr(testserver.Port(t))
	testserver.StartEtcd(t, "--listen-client-urls=https://"+addr, "--advertise-client-urls=https://"+addr,
		"--cert-file="+cert, "--key-file="+key, "--trusted-ca-file="+cert, "--client-cert-auth")
	ours := "ca_file=" + cert + "&cert_file=" + cert + "&key_file=" + key
	s, err := Open(t.Context(), "etcds://"+addr+"?"+ours)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	storetest.Await(t, storetest.Watch(t, s, "billing"), "the record", storetest.At(created.Version))
	for _, rest := range []string{"etcds://" + addr, "etcds://" + addr + "?ca_file=" + cert, "etcd://" + addr} {
		// An unknown authority; no certificate of ours; no TLS.
		if _, err := Open(t.Context(), rest); err == nil {
			t.Errorf("%q: Open returned no error", rest)
		}
	}
	plain := testserver.StartEtcd(t)
	if _, err := Open(t.Context(), "etcds://"+plain.Addr); err == nil {
		t.Error("Open with TLS of a server that has none returned no error")
	}
}
