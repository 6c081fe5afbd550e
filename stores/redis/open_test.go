package redis

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

func TestOpenOneServer(t *testing.T) {
	server := testserver.StartRedis(t, "--requirepass", "p@ss/w:rd")
	file := filepath.Join(t.TempDir(), "password")
	must(t, os.WriteFile(file, []byte("p@ss/w:rd\n"), 0o600))
	first := openAt(t, "redis://:p%40ss%2Fw%3Ard@"+server.Addr+"/3?prefix=mine")
	second := openAt(t, "redis://"+server.Addr+"/3?password_file="+url.QueryEscape(file), WithPrefix("mine"))
	elsewhere := openAt(t, "redis://:p%40ss%2Fw%3Ard@"+server.Addr+"/4?prefix=mine")
	box, other := watchInto(t, second, "e"), watchInto(t, elsewhere, "e")
	n := box.await(t, "the current state", 0, version(""))
	other.await(t, "the current state", 0, version(""))
	written := storetest.Swap(t, first, "e", "", leader(1, "one"))
	box.await(t, "the change", n, version(written.Version))
	storetest.Swap(t, elsewhere, "e", "", leader(9, "nine"))
	other.await(t, "its own change", 1, func(d delivery) bool { return d.snapshot.Record.Token == 9 })
	if _, n := other.last(); n != 2 {
		t.Error("a watch in another database was told of the change")
	}
}

// A password that has changed is found in its file when the next connection needs it.
func TestPasswordFileIsReadAgain(t *testing.T) {
	server := testserver.StartRedis(t, "--requirepass", "old")
	file := filepath.Join(t.TempDir(), "password")
	must(t, os.WriteFile(file, []byte("old"), 0o600))
	s := openAt(t, "redis://"+server.Addr+"?password_file="+url.QueryEscape(file))
	admin := openAt(t, "redis://:old@"+server.Addr)
	first := storetest.Swap(t, s, "e", "", leader(1, "one"))
	must(t, admin.client.ConfigSet(t.Context(), "requirepass", "new").Err())
	must(t, os.WriteFile(file, []byte("new"), 0o600))
	must(t, admin.client.Do(t.Context(), "client", "kill", "type", "normal", "skipme", "no").Err())
	storetest.Eventually(t, "a new connection has the new password", func() bool {
		_, err := s.CompareAndSwap(t.Context(), "e", first.Version, leader(2, "two"))
		return err == nil
	})
}

func TestOpenCluster(t *testing.T) {
	t.Parallel()
	nodes := testserver.StartRedisCluster(t, 2)
	s := openAt(t, fmt.Sprintf("redis+cluster://%s,%s", nodes[0].Addr, nodes[1].Addr))
	storetest.Swap(t, s, "e", "", leader(1, "one"))
}

func TestOpenWithTLS(t *testing.T) {
	dir := testserver.Dir(t)
	ca := newAuthority(t, dir)
	ca.issue(t, "server", "redis.test")
	ca.issue(t, "client", "client")
	path := func(name string) string { return filepath.Join(dir, name) }
	port := testserver.Port(t)
	server := testserver.StartRedis(t, "--tls-port", fmt.Sprint(port), "--tls-cert-file", path("server.pem"),
		"--tls-key-file", path("server.key"), "--tls-ca-cert-file", path("ca.pem"), "--tls-auth-clients", "yes")
	query := url.Values{
		"ca_file": {path("ca.pem")}, "cert_file": {path("client.pem")}, "key_file": {path("client.key")},
		"server_name": {"redis.test"},
	}
	at := "rediss://" + testserver.Addr(port) + "?"
	s := openAt(t, at+query.Encode())
	box := watchInto(t, s, "e")
	written := storetest.Swap(t, s, "e", "", leader(1, "one"))
	box.await(t, "the change", 0, version(written.Version))
	if storetest.Load(t, storeAt(t, server), "e").Version != written.Version {
		t.Error("the write is not there")
	}
	for name, wrong := range map[string]string{"ca_file": "", "cert_file": "", "server_name": "other.test"} {
		changed := url.Values{}
		for k, v := range query {
			changed[k] = v
		}
		changed[name] = []string{wrong}
		if wrong == "" {
			delete(changed, name)
		}
		if name == "cert_file" {
			delete(changed, "key_file")
		}
		if s, err := Open(t.Context(), at+changed.Encode()); err == nil {
			t.Errorf("%s %q is good enough", name, wrong)
			s.Close()
		}
	}
}

// authority issues certificates into a directory.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, dir string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	ca := &authority{dir: dir, key: key, cert: &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}}
	ca.write(t, "ca", ca.cert, key)
	return ca
}

func (ca *authority) issue(t *testing.T, name, host string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	ca.write(t, name, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{host},
		IPAddresses: []net.IP{}, NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, key)
}

// write writes NAME.pem and NAME.key, readable by servers that run as another user.
func (ca *authority) write(t *testing.T, name string, cert *x509.Certificate, key *ecdsa.PrivateKey) {
	t.Helper()
	signed, err := x509.CreateCertificate(rand.Reader, cert, ca.cert, &key.PublicKey, ca.key)
	must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	for path, block := range map[string]*pem.Block{
		name + ".pem": {Type: "CERTIFICATE", Bytes: signed}, name + ".key": {Type: "PRIVATE KEY", Bytes: secret},
	} {
		must(t, os.WriteFile(filepath.Join(ca.dir, path), pem.EncodeToMemory(block), 0o644))
	}
}

// What a server says to a wrong password, and what the system says of a server that is not there, has no password in it.
func TestOpenWithoutSuccess(t *testing.T) {
	server := testserver.StartRedis(t, "--requirepass", "right")
	_, err := Open(t.Context(), "redis://:hunter2@"+server.Addr)
	must(t, isFor(err, tenure.ErrPermanent))
	_, nobody := Open(t.Context(), "redis://:hunter2@"+testserver.Addr(testserver.Port(t)))
	must(t, isFor(nobody, tenure.ErrNotApplied))
	if text := err.Error() + nobody.Error(); strings.Contains(text, "hunter2") {
		t.Errorf("the password is in %q", text)
	}
}
