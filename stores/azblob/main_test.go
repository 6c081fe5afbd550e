package azblob

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/httpproxy"
	"github.com/tenure-go/tenure/internal/objectstore/objecttest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// client returns one for a container of the server, through addr.
func client(t *testing.T, server *testserver.Azurite, addr string) *container.Client {
	t.Helper()
	key, err := blob.NewSharedKeyCredential(server.Account, server.Key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := container.NewClientWithSharedKeyCredential(server.Endpoint(addr)+"/elections", key, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// openStore returns a store on the server, through addr.
func openStore(t *testing.T, server *testserver.Azurite, addr string, options ...Option) *Store {
	t.Helper()
	s, err := New(client(t, server, addr), append([]Option{WithCreate(true)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func serverUnderTest(t *testing.T) objecttest.Server {
	t.Helper()
	server := testserver.StartAzurite(t)
	open := func(addr string) tenure.Store { return openStore(t, server, addr) }
	return objecttest.Server{Process: server.Process, Addr: server.Addr, Halt: server.Stop, Open: open}
}

// refusal is an answer as the service gives it.
func refusal(status int, code string, header ...string) httpproxy.Fault {
	h := http.Header{"X-Ms-Error-Code": {code}}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return httpproxy.Answer(status, h,
		fmt.Sprintf(`<?xml version="1.0" encoding="utf-8"?><Error><Code>%s</Code><Message>by the test</Message></Error>`, code))
}
