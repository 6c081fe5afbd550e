package sidecar

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestRefusals makes wrong requests one by one. Each gets its status and a JSON error that says what is wrong.
func TestRefusals(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	header := func(key, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(key, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	const own, open = "/v1/elections/own", "/v1/elections/open"
	for _, c := range []struct {
		name, method, path, body string
		change                   func(*http.Request)
		status                   int
		want                     string
	}{
		{"rebound name", "GET", own, "", host("evil.example"), 421, "evil.example"},
		{"rebound name with our port", "GET", "/", "", host("evil.example:8732"), 421, "not known"},
		{"rebound name to what is open", "GET", "/openapi.json", "", host("evil.example"), 421, "not known"},
		{"name that ends like ours", "GET", "/", "", host("localhost.evil.example"), 421, "not known"},
		{"address of the network", "GET", "/", "", host("10.0.0.1"), 421, "not known"},
		{"rebound name that changes", "POST", open + "/pause", "", host("evil.example"), 421, "not known"},
		{"page of another site", "POST", open + "/pause", "", header("Origin", "https://evil.example"), 403, "other sites"},
		{"page of nowhere", "POST", open + "/pause", "", header("Origin", "null"), 403, "other sites"},
		{"page of another port", "POST", open + "/pause", "", header("Origin", "http://127.0.0.1:1"), 403, "other sites"},
		{"browser says so", "POST", open + "/pause", "", header("Sec-Fetch-Site", "cross-site"), 403, "other sites"},
		{"browser says so of a look", "GET", open + "/events", "", header("Sec-Fetch-Site", "cross-site"), 403, "other sites"},
		{"neighbour", "GET", own, "", header("Sec-Fetch-Site", "same-site"), 403, "other sites"},
		{"form", "POST", open + "/pause", "", header("Content-Type", "application/x-www-form-urlencoded"), 415, "application/json"},
		{"text", "POST", open + "/campaign", "{}", header("Content-Type", "text/plain"), 415, "application/json"},
		{"no type", "POST", open + "/resume", "", func(r *http.Request) { r.Header.Del("Content-Type") }, 415, "application/json"},
		{"two types", "POST", open + "/resume", "", header("Content-Type", "application/json, text/plain"), 415, "application/json"},

		{"unknown path", "GET", "/v1/election", "", nil, 404, `no \"/v1/election\"; there are /, /leader, /healthz`},
		{"unknown path to change", "POST", own + "/stop", "{}", nil, 404, "/openapi.json"},
		{"unknown path of no API", "GET", "/metrics", "", nil, 404, "/v1/elections/{name}/campaign, "},
		{"path that is not clean", "GET", "//v2", "", nil, 404, "there are"},
		{"wrong method", "POST", own, "{}", nil, 405, "takes GET, HEAD, not POST"},
		{"method that is asked", "GET", own + "/pause", "", nil, 405, "takes POST, not GET"},
		{"unknown election", "GET", "/v1/elections/x", "", nil, 404, `"x\"`},
		{"unknown election to change", "POST", "/v1/elections/x/pause", "", nil, 404, "does not serve"},
		{"unknown election of old clients", "GET", "/leader?election=x", "", nil, 404, "does not serve"},
		{"one of several", "GET", "/", "", nil, 400, "?election=NAME"},
		{"unknown campaign", "POST", open + "/campaigns/x/confirm", "", nil, 404, "no such campaign"},
		{"unknown campaign to resign", "POST", open + "/campaigns/x/resign", "", nil, 404, "no such campaign"},

		{"no JSON", "POST", open + "/pause", "reason=x", nil, 400, "cannot be read"},
		{"unknown field", "POST", open + "/pause", `{"raeson": "x"}`, nil, 400, "raeson"},
		{"field where none belongs", "POST", open + "/campaigns/x/confirm", `{"a": 1}`, nil, 400, `\"a\"`},
		{"field of the wrong type", "POST", open + "/pause", `{"reason": 1}`, nil, 400, "cannot unmarshal"},
		{"two values", "POST", open + "/pause", `{} {}`, nil, 400, "more than one"},
		{"large body", "POST", open + "/pause", `{"reason": "` + strings.Repeat("x", maxBody) + `"}`, nil, 413, "too large"},
		{"long reason", "POST", open + "/pause", `{"reason": "` + strings.Repeat("x", 5000) + `"}`, nil, 400, "more than 4096"},
		{"who is nobody", "POST", open + "/pause", `{"by": "a\nb"}`, nil, 400, "control character"},

		{"nobody to resign", "POST", open + "/resign", "", nil, 409, `nobody leads \"open\"`},
		{"nobody to hand over", "POST", open + "/transfer", `{"to": "x"}`, nil, 409, `nobody leads \"open\"`},
		{"no heir", "POST", open + "/transfer", "", nil, 400, `\"to\"`},
		{"heir that cannot be", "POST", open + "/transfer", `{"to": "a\tb"}`, nil, 400, "control character"},

		{"campaign where the sidecar stands", "POST", own + "/campaign", "", nil, 409, "itself stands"},
		{"campaign of nobody", "POST", open + "/campaign", `{"id": "a\nb"}`, nil, 400, "control character"},
		{"priority", "POST", open + "/campaign", `{"priority": 1}`, nil, 400, "between -10 and 0"},
		{"much metadata", "POST", open + "/campaign", `{"metadata": {"a": "` + strings.Repeat("x", 5000) + `"}}`, nil, 400, "more than 4096"},
		{"confirming too often", "POST", open + "/campaign", `{"confirm_within_ms": 99}`, nil, 400, "between 100 and the TTL, 2000"},
		{"confirming too rarely", "POST", open + "/campaign", `{"confirm_within_ms": 2001}`, nil, 400, "between 100 and the TTL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, text := d.do(d.request(c.method, c.path, c.body, c.change))
			if status != c.status || !strings.HasPrefix(text, `{"error":"`) || !strings.Contains(text, c.want) {
				t.Errorf("got %d %s, want %d with %q", status, text, c.status, c.want)
			}
		})
	}
	if r := d.record("open"); r.Pause != nil || r.Token != 0 {
		t.Errorf("something was changed: %+v", r)
	}
	if len(d.sidecar.streams) != 0 {
		t.Errorf("%d streams are taken", len(d.sidecar.streams))
	}
}

// TestNoGETChangesState: what changes it answers to POST alone.
func TestNoGETChangesState(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for _, r := range routes {
		path := strings.NewReplacer("{$}", "", "{name}", "open", "{campaign}", "x").Replace(r.path)
		if r.method != http.MethodPost {
			if status, _ := d.post(path, ""); status != http.StatusMethodNotAllowed {
				t.Errorf("POST %s: %d", path, status)
			}
			continue
		}
		for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "OPTIONS"} {
			if status, _ := d.do(d.request(method, path, "", nil)); status != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d", method, path, status)
			}
		}
	}
}

func TestOwnNames(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(o *Options) { o.Hosts = []string{"Sidecar.example"} })
	for _, host := range []string{
		"localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.9:80", "[::1]:8732", "[::1]", "sidecar.example:8732",
	} {
		r := d.request("GET", "/v1/elections", "", func(r *http.Request) { r.Host = host })
		if status, text := d.do(r); status != http.StatusOK {
			t.Errorf("%s: %d %s", host, status, text)
		}
	}
	r := d.request("POST", "/v1/elections/open/pause", "", func(r *http.Request) { r.Header.Set("Origin", d.base) })
	if status, text := d.do(r); status != http.StatusAccepted {
		t.Errorf("our own page: %d %s", status, text)
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	const token = "correct horse battery"
	d := newDesk(t, func(o *Options) { o.Token = token })
	for _, r := range routes {
		if r.open {
			continue
		}
		path := strings.NewReplacer("{$}", "?election=open", "{name}", "open", "{campaign}", "x").Replace(r.path)
		for _, header := range []string{"", "Bearer", "Bearer ", "Bearer wrong", "Basic " + token, token, "Bearer " + token + "x"} {
			request := d.request(r.method, path, "", func(r *http.Request) { r.Header.Set("Authorization", header) })
			if status, text := d.do(request); status != http.StatusUnauthorized {
				t.Errorf("%s with %q: %d %s", path, header, status, text)
			}
		}
	}
	with := func(r *http.Request) { r.Header.Set("Authorization", "bearer "+token) }
	if status, text := d.do(d.request("GET", "/v1/elections", "", with)); status != http.StatusOK {
		t.Errorf("got %d %s", status, text)
	}
	if status, _ := d.get("/healthz"); status != http.StatusOK {
		t.Errorf("got %d of what is open", status)
	}
	if !d.log.HasLine("without the token", "path=/v1/elections/open/pause") {
		t.Error("nothing was logged")
	}
}

func TestReadToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := strings.Repeat("x", minToken)
	if got, err := ReadToken(file("good", " "+good+"\n", 0o640)); err != nil || got != good {
		t.Errorf("got %q and %v", got, err)
	}
	for path, want := range map[string]string{
		file("short", good[1:]+"\n", 0o600):                  "has 15 bytes, want 16",
		file("long", strings.Repeat("x", maxToken+1), 0o600): "longer than",
		file("lines", good+"\n"+good, 0o600):                 "one line of ASCII",
		file("umlaut", good+"ü", 0o600):                      "one line of ASCII",
		file("empty", "", 0o600):                             "has 0 bytes",
		dir:                                                  "no regular file",
		filepath.Join(dir, "missing"):                        "no such file",
		file("readable", good, 0o644):                        "chmod o=",
		file("writable", good, 0o602):                        "chmod o=",
	} {
		if runtime.GOOS == "windows" && (want == "chmod o=" || want == "no such file") {
			continue
		}
		if got, err := ReadToken(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), good) {
			t.Errorf("%s: got %q and %v, want %q", path, got, err, want)
		}
	}
}

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.cert, a.key = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "root"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

// sign signs with the authority's key, or makes that.
func (a *authority) sign(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

func (a *authority) pair(name string) tls.Certificate {
	cert, key := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
}

// files writes a certificate with its key, and the authority, as the command reads them.
func (a *authority) files(dir string, pair tls.Certificate) (certificate, key, root string) {
	a.t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		a.t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
		if err := os.WriteFile(path, text, 0o600); err != nil {
			a.t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", pair.Certificate[0]), write("key.pem", "PRIVATE KEY", der),
		write("root.pem", "CERTIFICATE", a.cert.Raw)
}

func TestMutualTLS(t *testing.T) {
	t.Parallel()
	ours, others := newAuthority(t), newAuthority(t)
	config, err := LoadTLS(ours.files(t.TempDir(), ours.pair("sidecar")))
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, func(o *Options) { o.Address, o.TLS = address(t, "0.0.0.0:0"), config })
	_, port, _ := net.SplitHostPort(d.address.String())
	d.base = "https://127.0.0.1:" + port
	roots := x509.NewCertPool()
	roots.AddCert(ours.cert)
	dial := func(certificates ...tls.Certificate) {
		d.client.Transport = &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: certificates}, DisableKeepAlives: true,
		}
	}
	for _, wrong := range [][]tls.Certificate{nil, {others.pair("mallory")}} {
		dial(wrong...)
		if response, err := d.client.Do(d.request("GET", "/healthz", "", nil)); err == nil {
			t.Errorf("got %s with %d certificates", response.Status, len(wrong))
			_ = response.Body.Close()
		}
	}
	dial(ours.pair("ann"))
	d.must("/v1/elections/open/pause", `{"reason": "x"}`)
	if !d.log.HasLine("action=pause", "certificate of CN=ann") {
		t.Error("nobody knows who asked")
	}
}

func TestLoadTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	dir := t.TempDir()
	cert, key, _ := a.files(dir, a.pair("x"))
	junk := filepath.Join(dir, "junk")
	if err := os.WriteFile(junk, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ cert, key, root, want string }{
		{cert, "", "", "needs both"},
		{"", key, "", "needs both"},
		{"", "", cert, "needs both"},
		{junk, key, "", "reading the TLS certificate"},
		{cert, key, filepath.Join(dir, "missing"), "authorities"},
		{cert, key, junk, "no certificate in"},
	} {
		if _, err := LoadTLS(c.cert, c.key, c.root); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v", c, err)
		}
	}
	if config, err := LoadTLS("", "", ""); config != nil || err != nil {
		t.Errorf("got %v and %v for nothing", config, err)
	}
}
