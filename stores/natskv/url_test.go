package natskv

import (
	"testing"

	"github.com/tenure-go/tenure/internal/storetest"
)

func TestWrongURLs(t *testing.T) {
	storetest.WrongURLs(t, Open, map[string]string{
		"nats://h ost/b":                        "is no URL",
		"http://host/b":                         `the scheme is "http"`,
		"nats:///b":                             "no host",
		"nats://host":                           "no bucket",
		"nats://host/":                          "no bucket",
		"nats://host/a/b":                       `the bucket "a/b"`,
		"nats://host/a.b":                       `the bucket "a.b"`,
		"nats://host/b?replica=3":               `no parameter "replica"`,
		"nats://host/b?replicas=3&replicas=3":   "repeated",
		"nats://host/b?replicas=":               "is empty",
		"nats://host/b?replicas=many":           "want a number",
		"nats://host/b?replicas=0":              "between 1 and 5",
		"nats://host/b?replicas=6":              "between 1 and 5",
		"nats://host/b?storage=tape":            "want file or memory",
		"nats://host/b?create=maybe":            "want true or false",
		"nats://host/b?create=false&tags=ssd":   "placement and description",
		"nats://host/b?sync=2m":                 "want always",
		"nats://host/b?heartbeat=often":         "is no duration: give it a unit",
		"nats://host/b?heartbeat=10ms":          "between 100ms and 30s",
		"nats://host/b?servers=a,,b":            "want host:port",
		"nats://host/b?servers=nats://a":        "want host:port",
		"nats://host/b?tls_cert=a":              "go together",
		"nats://host/b?nkey=/nowhere":           "nkey",
		"nats://u:secret@host/b?creds=/nowhere": "different ways",
		"nats://u:secret@host/b?no=1":           `no parameter "no"`,
		"nats://u:sec%ret@host/b":               "is no URL",
		"nats://u:secret@host:port/b":           "is no URL",
		"nats://u:secret@host/b#fragment":       "fragment",
	})
}
