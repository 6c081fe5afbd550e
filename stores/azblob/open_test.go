package azblob

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/httpproxy"
	"github.com/tenure-go/tenure/internal/objectstore/objecttest"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// The variables from which credentials may come.
var variables = []string{"AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN"}

func setOnly(t *testing.T, name, value string) {
	t.Helper()
	for _, variable := range variables {
		t.Setenv(variable, "")
	}
	if name != "" {
		t.Setenv(name, value)
	}
}

// signature returns a shared access signature for the server's container.
func signature(t *testing.T, server *testserver.Azurite) string {
	t.Helper()
	signed, err := client(t, server, server.Addr).GetSASURL(
		sas.ContainerPermissions{Read: true, Write: true, Create: true, List: true, Delete: true}, time.Now().Add(time.Hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(signed, "?")
	return token
}

func TestOpen(t *testing.T) {
	server := testserver.StartAzurite(t)
	at := "azblob://" + server.Account + "/elections/a/b?endpoint=" + url.QueryEscape(server.Endpoint(server.Addr))
	connection := "DefaultEndpointsProtocol=http;AccountName=" + server.Account + ";AccountKey=" + server.Key +
		";BlobEndpoint=" + server.Endpoint(server.Addr) + ";"
	token := signature(t, server)
	for _, test := range []struct{ name, rawURL, variable, value string }{
		{"key", at + "&create=true", "AZURE_STORAGE_KEY", server.Key},
		{"connection string", at, "AZURE_STORAGE_CONNECTION_STRING", connection},
		{"signature", at, "AZURE_STORAGE_SAS_TOKEN", "?" + token},
		{"signature in the URL", at + "&sas=" + url.QueryEscape(token), "AZURE_STORAGE_KEY", "bm90IHVzZWQ="},
	} {
		setOnly(t, test.variable, test.value)
		s, err := Open(t.Context(), test.rawURL, WithBlobLease("locks/*"))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		current := storetest.Load(t, s, "e")
		storetest.Swap(t, s, "e", current.Version, storetest.Held(current.Record.Token+1, "a"))
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := s.Load(t.Context(), "e"); storetest.OutcomeOf(err) != storetest.Permanent {
			t.Errorf("%s: a closed store: %v", test.name, err)
		}
	}
	if _, err := client(t, server, server.Addr).NewBlobClient("a/b/elections/e.json").GetProperties(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// The SDK's transport is that of the whole process, and closed by nobody.
func TestCloseLeavesNoConnection(t *testing.T) {
	server := testserver.StartAzurite(t)
	setOnly(t, "AZURE_STORAGE_KEY", server.Key)
	proxy := objecttest.Patient(t, server.Addr)
	s, err := Open(t.Context(), "azblob://"+server.Account+"/elections?create=true&endpoint="+
		url.QueryEscape(server.Endpoint(proxy.Addr())))
	if err != nil {
		t.Fatal(err)
	}
	objecttest.ConnectionsClosed(t, s, proxy)
}

func TestOpenWithWrongCredentials(t *testing.T) {
	server := testserver.StartAzurite(t)
	at := "azblob://" + server.Account + "/elections?endpoint=" + url.QueryEscape(server.Endpoint(server.Addr))
	setOnly(t, "AZURE_STORAGE_KEY", "c2VjcmV0")
	if _, err := Open(t.Context(), at); storetest.OutcomeOf(err) != storetest.Permanent || strings.Contains(err.Error(), "c2VjcmV0") {
		t.Errorf("a wrong key: %v", err)
	}
	for _, test := range []struct{ name, value, want string }{
		{"AZURE_STORAGE_KEY", "secret!", "base64"},
		{"AZURE_STORAGE_CONNECTION_STRING", "AccountName=other;AccountKey=c2VjcmV0", `for the account "other"`},
		{"AZURE_STORAGE_CONNECTION_STRING", "AccountName=" + server.Account + ";AccountKey=secret!", "form"},
	} {
		setOnly(t, test.name, test.value)
		_, err := Open(t.Context(), at)
		if !errors.Is(err, tenure.ErrConfig) || !strings.Contains(err.Error(), test.want) ||
			strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "c2VjcmV0") {
			t.Errorf("%s=%s: %v", test.name, test.value, err)
		}
	}
}

// What fails is told by its URL, without the signature that the URL bears.
func TestErrorsBearNoSignature(t *testing.T) {
	refusing, err := httpproxy.Listen("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer refusing.Close()
	refusing.Inject(refusal(403, "AuthorizationPermissionMismatch"))
	for _, addr := range []string{"127.0.0.1:1", refusing.Addr()} {
		c, err := container.NewClientWithNoCredential("http://"+addr+"/account/elections?sig=secret", nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(c, WithBlobLease("*"))
		if err != nil {
			t.Fatal(err)
		}
		_, loading := s.Load(t.Context(), "e")
		_, swapping := s.CompareAndSwap(t.Context(), "e", "", storetest.Held(1, "a"))
		_, listing := s.List(t.Context())
		_, pruning := s.Prune(t.Context(), 0)
		_, asking := s.Guarantee(t.Context())
		for _, err := range []error{loading, swapping, listing, pruning, asking, s.leases.acquire(t.Context(), "e", "id", 0)} {
			if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), addr) {
				t.Errorf("the error is %v", err)
			}
		}
	}
}
