//go:build linux

package beds

import (
	"net/http"
	"net/url"

	"github.com/tenure-go/tenure/internal/httpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// S3 is an S3 server over a local directory.
func S3() Bed {
	return Bed{Name: "s3", About: "a server over a local directory", Start: func(tb testserver.TB) (*Server, error) {
		v := testserver.StartVersityGW(tb)
		query := url.Values{"path-style": {"true"}, "region": {"us-east-1"}}.Encode()
		return &Server{
			Version: "versitygw", Addrs: []string{v.Addr}, HTTP: true,
			URL: one("s3://" + v.Bucket + "/chaos?endpoint=http%3A%2F%2F{}&" + query),
			Env: []string{
				"AWS_ACCESS_KEY_ID=" + v.AccessKey, "AWS_SECRET_ACCESS_KEY=" + v.SecretKey, "AWS_REGION=us-east-1",
				"AWS_EC2_METADATA_DISABLED=true",
			},
			Nodes: []Node{{Name: "versitygw", Process: v.Process}},
			Denied: httpproxy.Answer(http.StatusForbidden, http.Header{"Content-Type": {"application/xml"}},
				"<Error><Code>AccessDenied</Code><Message>the key was revoked</Message></Error>"),
		}, nil
	}}
}

// AzureBlob is the emulator of Azure Blob Storage. It keeps what it has acknowledged only if it is stopped in good
// order.
func AzureBlob() Bed {
	return Bed{Name: "azblob", About: "an emulator", Start: func(tb testserver.TB) (*Server, error) {
		a := testserver.StartAzurite(tb)
		return &Server{
			Version: "Azurite", Addrs: []string{a.Addr}, HTTP: true, Gentle: true,
			URL:   one("azblob://" + a.Account + "/elections?create=true&endpoint=http%3A%2F%2F{}%2F" + a.Account),
			Env:   []string{"AZURE_STORAGE_KEY=" + a.Key},
			Nodes: []Node{{Name: "azurite", Process: a.Process}},
			Denied: httpproxy.Answer(http.StatusForbidden, http.Header{"X-Ms-Error-Code": {"AuthorizationFailure"}},
				"<Error><Code>AuthorizationFailure</Code><Message>the key was revoked</Message></Error>"),
		}, nil
	}}
}

// Memcached is a memcached, which forgets everything when it ends.
func Memcached() Bed {
	return Bed{Name: "memcached", About: "in memory alone", Start: func(tb testserver.TB) (*Server, error) {
		m := testserver.StartMemcached(tb)
		return &Server{
			Version: "memcached", Addrs: []string{m.Addr}, URL: one("memcached://{}"),
			Nodes: []Node{{Name: "memcached", Process: m.Process}}, Loses: true,
		}, nil
	}}
}
