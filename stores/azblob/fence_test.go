package azblob

import (
	"testing"

	"github.com/tenure-go/tenure/internal/objectstore/objecttest"
	"github.com/tenure-go/tenure/internal/testserver"
)

func TestFence(t *testing.T) {
	server := testserver.StartAzurite(t)
	c := client(t, server, server.Addr)
	if _, err := c.Create(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	objecttest.Fence(t, Objects{c})
}
