package redis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/internal/storetest"
)

// A URL that is not understood is refused with what is wrong, and without its password.
func TestRefusedURLs(t *testing.T) {
	storetest.WrongURLs(t, Open, map[string]string{
		"":                                                                 "redis://",
		"http://host":                                                      "redis://",
		"redis+socket://host":                                              "redis://",
		"redis://":                                                         "HOST",
		"redis://:hunter2@":                                                "HOST",
		"redis://:hunter2@a,b":                                             "one",
		"redis://:hunter2@host:port":                                       "HOST:PORT",
		"redis://:hunter2@host:1:2":                                        "HOST:PORT",
		"redis://:hunter2@host:99999":                                      "HOST:PORT",
		"redis://u:hunter2%zz@host":                                        "percent-encoding",
		"redis://:hunter2@host/x":                                          "database",
		"redis://:hunter2@host/-1":                                         "database",
		"redis://:hunter2@host/1/2":                                        "database",
		"redis://:hunter2@host/%zz":                                        "percent-encode",
		"redis://:hunter2@host/#f":                                         "percent-encode",
		"redis+cluster://:hunter2@host/1":                                  "no databases",
		"redis+sentinel://:hunter2@host":                                   "MASTER",
		"redis://:hunter2@host?pool=3":                                     `"pool"`,
		"redis://:hunter2@host?password=hunter2":                           `"password"`,
		"redis://:hunter2@host?prefix=a&prefix=b":                          "repeated",
		"redis://:hunter2@host?prefix=":                                    "empty",
		"redis://:hunter2@host?prefix=%7Ba%7D":                             "braces",
		"redis://:hunter2@host?prefix=%zz":                                 "percent-encode",
		"redis://:hunter2@host?ping=soon":                                  "duration",
		"redis://:hunter2@host?ping=1ms":                                   "at least 1s",
		"redis://:hunter2@host?replicas=many":                              "number",
		"redis://:hunter2@host?replicas=99":                                "0 to 16",
		"redis://:hunter2@host?replicas=1&replica_timeout=2h":              "1h",
		"redis://:hunter2@host?replica_timeout=1s":                         "without replicas",
		"redis://:hunter2@host?dial_timeout=-1s":                           "must not be negative",
		"redis://:hunter2@host?password_file=/dev/null":                    "one of them",
		"redis://host?password_file=/nowhere":                              "/nowhere",
		"redis://:hunter2@host?sentinel_user=x":                            "redis+sentinel",
		"redis://:hunter2@host?ca_file=/dev/null":                          "TLS",
		"rediss://:hunter2@host?ca_file=/dev/null":                         "PEM",
		"rediss://:hunter2@host?ca_file=/nowhere":                          "/nowhere",
		"rediss://:hunter2@host?cert_file=/nowhere":                        "belong together",
		"rediss://:hunter2@host?cert_file=/nowhere&key_file=/nowhere":      "/nowhere",
		"redis+sentinel://:hunter2@host/m?sentinel_password_file=/nowhere": "/nowhere",
	})
}

func TestURLForms(t *testing.T) {
	for rawURL, want := range map[string]string{
		"redis://host":                           "0 [host:6379]  0",
		"redis://[::1]/7":                        "0 [[::1]:6379]  7",
		"redis://[::1]:1234":                     "0 [[::1]:1234]  0",
		"redis+sentinel://a,b:1,c/mine/2":        "1 [a:26379 b:1 c:26379] mine 2",
		"rediss+cluster://a:1,b":                 "2 [a:1 b:6379]  0",
		"redis+sentinel://u:p%2C%40@a/my%20own/": "1 [a:26379] my own 0",
	} {
		l, err := parse(rawURL)
		must(t, err)
		if got := fmt.Sprint(l.kind, " ", l.hosts, " ", l.master, " ", l.db); got != want {
			t.Errorf("%s is read as %q, want %q", rawURL, got, want)
		}
		if secure := strings.HasPrefix(rawURL, "rediss"); secure != (l.tls != nil) {
			t.Errorf("%s: TLS %t, want %t", rawURL, l.tls != nil, secure)
		}
	}
}
