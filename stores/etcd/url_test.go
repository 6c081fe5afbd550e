package etcd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/internal/storetest"
)

func TestWrongURLs(t *testing.T) {
	storetest.WrongURLs(t, Open, map[string]string{
		"http://host":                 "begins with etcd://",
		"etcd:host":                   "begins with etcd://",
		"etcd://":                     "cannot read a server",
		"etcd://a,,b":                 "cannot read a server",
		"etcd://host:port":            "cannot read a server",
		"etcd://fe80::1":              "cannot read a server",
		"etcd://host/a#b":             "percent-encode",
		"etcd://host/%zz":             "percent-encode",
		"etcd://host?pings=1s":        `no parameter "pings"`,
		"etcd://host?ping=":           "is empty",
		"etcd://host?ping=1s&ping=2s": "is repeated",
		"etcd://host?ping=often":      "is no duration: give it a unit",
		"etcd://host?ping=1ms":        "must be between",
		"etcd://host/" + strings.Repeat("x", MaxPrefix): "the prefix",
		"etcd://user@host":                            "belong together",
		"etcd://:secret@host":                         "belong together",
		"etcd://user:sec%ret@host":                    "percent-encoding",
		"etcd://user:secret@host?password_file=/none": "want one of them",
		"etcd://user@host?password_file=/none":        "password_file",
		"etcd://host?ca_file=/none":                   "want etcds://",
		"etcds://host?ca_file=/none":                  "ca_file",
		"etcds://host?cert_file=/none":                "belong together",
	})
}

func TestURLForms(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("from the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for rawURL, want := range map[string]struct{ endpoints, prefix, user, password string }{
		"etcd://host":                                   {"http://host:2379", "tenure/", "", ""},
		"etcd://a:1,b,[::1]:3/elections":                {"http://a:1 http://b:2379 http://[::1]:3", "elections/", "", ""},
		"etcds://a,b/x/y/":                              {"https://a:2379 https://b:2379", "x/y/", "", ""},
		"etcd://u:p%40ss@host":                          {"http://host:2379", "tenure/", "u", "p@ss"},
		"etcd://u@host/?ping=10s&password_file=" + file: {"http://host:2379", "tenure/", "u", "from the file"},
	} {
		l, err := parse(rawURL)
		if err != nil {
			t.Errorf("%s: %v", rawURL, err)
			continue
		}
		c, err := newConfig(l.options)
		if err != nil || !slices.Equal(l.endpoints(), strings.Fields(want.endpoints)) || c.prefix != want.prefix ||
			l.user != want.user || l.password != want.password {
			t.Errorf("%s: %v, %q, %v, %v", rawURL, l.endpoints(), c.prefix, l, err)
		}
	}
}
