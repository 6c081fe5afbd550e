package natskv

import (
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/tenuretest"
)

func TestConformance(t *testing.T) {
	server := testserver.StartNATS(t)
	conform(t, server.Addr, "")
}

func TestConformanceOnThreeServers(t *testing.T) {
	cluster := testserver.StartNATSCluster(t, 3, nil)
	conform(t, cluster[0].Addr, "?replicas=3")
}

// conform runs the kit on a bucket; records are deleted as any client of the key-value store does, in one of two ways.
func conform(t *testing.T, addr, parameters string) {
	t.Helper()
	open := func(t *testing.T) tenure.Store { return openStore(t, addr, "elections"+parameters) }
	bucket := keyValue(t, openStore(t, addr, "elections"+parameters))
	remove := func(t *testing.T, election string) {
		if err := bucket.Delete(t.Context(), key(election)); err != nil {
			t.Fatal(err)
		}
	}
	tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
}
