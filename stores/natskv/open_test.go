package natskv

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

func TestOpenWithoutAServer(t *testing.T) {
	addr := testserver.Addr(testserver.Port(t))
	if _, err := Open(t.Context(), "nats://u:secret@"+addr+"/elections"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("Open without a server returned %v", err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, "nats://"+silent.Addr().String()+"/elections"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Open of a server that does not answer returned %v, want the end of the context", err)
	}
}

func TestPasswordAndToken(t *testing.T) {
	server := testserver.StartNATS(t, "authorization {user: u, password: \"p@ss\"}")
	openStore(t, "u:p%40ss@"+server.Addr, "elections")
	for _, who := range []string{"", "u:secret@", "token@"} {
		_, err := Open(t.Context(), "nats://"+who+server.Addr+"/elections")
		if !errors.Is(err, tenure.ErrPermanent) || strings.Contains(err.Error(), "secret") {
			t.Errorf("Open as %q returned %v, want ErrPermanent without the password", who, err)
		}
	}
	server = testserver.StartNATS(t, "authorization {token: sesame}")
	openStore(t, "sesame@"+server.Addr, "elections")
}

// While passwords are changed servers refuse one that is right before and after. The client does not give up.
func TestPasswordIsRefusedForAWhile(t *testing.T) {
	server := testserver.StartNATS(t, "authorization {user: u, password: one}")
	changed := testserver.StartNATS(t, "authorization {user: u, password: two}")
	proxy := tcpproxy.Start(t, server.Addr)
	s := openStore(t, "u:one@"+proxy.Addr(), "elections")
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	proxy.SetUpstream(changed.Addr)
	proxy.Cut()
	storetest.Eventually(t, "the client was refused four times", func() bool {
		return strings.Count(changed.Log(), "authentication error") >= 4
	})
	proxy.SetUpstream(server.Addr)
	storetest.Eventually(t, "the client is back", s.conn.IsConnected)
	if got := storetest.Load(t, s, "billing"); got.Version != created.Version {
		t.Errorf("the version is %q, want %q", got.Version, created.Version)
	}
}

func TestNkey(t *testing.T) {
	user, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := user.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	server := testserver.StartNATS(t, fmt.Sprintf("authorization {users: [{nkey: %s}]}", public))
	openStore(t, server.Addr, "elections?nkey="+testserver.File(t, "user.nk", seed))
}

// signed returns claims of a subject as NATS signs them, in its own variant of a JSON web token.
func signed(t *testing.T, issuer nkeys.KeyPair, subject, name string, claims map[string]any) string {
	t.Helper()
	by, err := issuer.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	claims["version"] = 2
	body := map[string]any{"jti": name, "iat": time.Now().Unix(), "iss": by, "name": name, "sub": subject, "nats": claims}
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := part(map[string]string{"typ": "JWT", "alg": "ed25519-nkey"}) + "." + part(body)
	signature, err := issuer.Sign([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// A credentials file, as servers with accounts of an operator want it.
func TestCredentialsFile(t *testing.T) {
	pair := func(create func() (nkeys.KeyPair, error)) (k nkeys.KeyPair, public string) {
		t.Helper()
		k, err := create()
		if err != nil {
			t.Fatal(err)
		}
		if public, err = k.PublicKey(); err != nil {
			t.Fatal(err)
		}
		return k, public
	}
	operator, operatorID := pair(nkeys.CreateOperator)
	account, accountID := pair(nkeys.CreateAccount)
	_, systemID := pair(nkeys.CreateAccount)
	user, userID := pair(nkeys.CreateUser)
	limits := map[string]any{
		"subs": -1, "conn": -1, "leaf": -1, "imports": -1, "exports": -1, "data": -1, "payload": -1, "wildcards": true,
		"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1,
	}
	server := testserver.StartNATS(t,
		"operator: "+signed(t, operator, operatorID, "O", map[string]any{"type": "operator", "system_account": systemID}),
		"system_account: "+systemID, "resolver: MEMORY", fmt.Sprintf("resolver_preload: {%s: %s, %s: %s}",
			accountID, signed(t, operator, accountID, "A", map[string]any{"type": "account", "limits": limits}),
			systemID, signed(t, operator, systemID, "SYS", map[string]any{"type": "account"})))
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	creds := fmt.Sprintf("-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n"+
		"-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n",
		signed(t, account, userID, "U", map[string]any{"type": "user", "subs": -1, "data": -1, "payload": -1}), seed)
	s := openStore(t, server.Addr, "elections?creds="+testserver.File(t, "user.creds", []byte(creds)))
	storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	if _, err := Open(t.Context(), "nats://"+server.Addr+"/elections"); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("Open without credentials returned %v, want ErrPermanent", err)
	}
}

func TestTLS(t *testing.T) {
	cert, key := testserver.Certificate(t)
	server := testserver.StartNATS(t, fmt.Sprintf("tls {cert_file: %q, key_file: %q, ca_file: %q, verify: true}", cert, key, cert))
	ours := "tls_ca=" + cert + "&tls_cert=" + cert + "&tls_key=" + key
	openStore(t, server.Addr, "elections?"+ours)
	s, err := Open(t.Context(), "tls://"+server.Addr+"/elections?"+ours)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if state, err := s.conn.TLSConnectionState(); err != nil || !state.HandshakeComplete {
		t.Errorf("the connection is not encrypted: %v", err)
	}
	for _, rest := range []string{"", "?tls_ca=" + cert} { // an unknown authority; no certificate of ours
		if _, err := Open(t.Context(), "tls://"+server.Addr+"/elections"+rest); err == nil {
			t.Errorf("%q: Open returned no error", rest)
		}
	}
	plain := testserver.StartNATS(t)
	if _, err := Open(t.Context(), "tls://"+plain.Addr+"/elections"); err == nil {
		t.Error("Open with TLS of a server that has none returned no error")
	}
}

// JetStream of another domain, which this server reaches as a leaf, is asked under that domain's prefix.
func TestDomain(t *testing.T) {
	inDomain := func(name string) string {
		return fmt.Sprintf("jetstream {domain: %s, store_dir: %q}", name, testserver.Dir(t))
	}
	leaves := testserver.Addr(testserver.Port(t))
	hub := testserver.StartNATS(t, inDomain("hub"), fmt.Sprintf("leafnodes {listen: %q}", leaves))
	leaf := testserver.StartNATS(t, inDomain("leaf"), fmt.Sprintf("leafnodes {remotes: [{url: \"nats-leaf://%s\"}]}", leaves))
	var s *Store
	storetest.Eventually(t, "the leaf has reached the hub", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var err error
		s, err = Open(ctx, "nats://"+leaf.Addr+"/elections?domain=hub")
		return err == nil
	})
	defer s.Close()
	deliveries := storetest.Watch(t, s, "billing")
	storetest.Await(t, deliveries, "the missing record", storetest.At(""))
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	storetest.Await(t, deliveries, "the creation", storetest.At(created.Version))
	if got := storetest.Load(t, openStore(t, hub.Addr, "elections?create=false"), "billing"); got.Version != created.Version {
		t.Errorf("at the hub the version is %q, want %q", got.Version, created.Version)
	}
}

// The rights that README.md names are enough for everything but making the bucket.
func TestMinimalRights(t *testing.T) {
	t.Parallel()
	server := testserver.StartNATS(t, `
authorization {
  users: [
    {user: admin, password: admin}
    {user: elector, password: elector, permissions: {
      publish: ["$KV.elections.>", "$JS.API.STREAM.INFO.KV_elections", "$JS.API.STREAM.MSG.GET.KV_elections",
        "$JS.API.CONSUMER.CREATE.KV_elections.>"]
      subscribe: ["_INBOX_elector.>"]
    }}
    {user: reader, password: reader, permissions: {
      publish: ["$JS.API.STREAM.INFO.KV_elections", "$JS.API.STREAM.MSG.GET.KV_elections",
        "$JS.API.CONSUMER.CREATE.KV_elections.>"]
      subscribe: ["_INBOX.>"]
    }}
  ]
}`)
	openStore(t, "admin:admin@"+server.Addr, "elections")
	s := openStore(t, "elector:elector@"+server.Addr, "elections?create=false&inbox_prefix=_INBOX_elector")
	f := fleet.New(t)
	defer f.Check()
	stop := f.Stand(s, "a")
	f.Next()
	stop()
	deliveries := storetest.Watch(t, s, "fleet")
	storetest.Await(t, deliveries, "the vacancy", func(d storetest.Delivery) bool { return d.Snapshot.Exists() && d.Snapshot.Record.Vacant() })
	if names, err := s.List(t.Context()); err != nil || len(names) != 1 {
		t.Errorf("List returned %q, %v", names, err)
	}
	if _, err := s.Guarantee(t.Context()); err != nil {
		t.Error(err)
	}
	storetest.Prune(t, s, "fleet")

	reader := openStore(t, "reader:reader@"+server.Addr, "elections?create=false")
	storetest.Await(t, storetest.Watch(t, reader, "fleet"), "the missing record", storetest.At(""))
	storetest.Eventually(t, "the error tells what is missing", func() bool { // which comes by itself, perhaps after the end of a call
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err := reader.CompareAndSwap(ctx, "fleet", "", storetest.Held(100, "reader"))
		storetest.Want(t, storetest.Unknown, err) // the server does not answer a request that it forbids
		return strings.Contains(strings.ToLower(err.Error()), "permissions violation")
	})
}
