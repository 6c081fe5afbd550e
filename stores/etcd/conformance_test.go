package etcd

import (
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/tenuretest"
)

func TestConformance(t *testing.T) {
	conform(t, testserver.StartEtcd(t))
}

func TestConformanceOnThreeMembers(t *testing.T) {
	conform(t, testserver.StartEtcdCluster(t, 3)...)
}

// conform runs the kit; records are deleted as any other program does.
func conform(t *testing.T, members ...*testserver.Etcd) {
	t.Helper()
	addr := all(members)
	open := func(t *testing.T) tenure.Store { return openStore(t, addr, "") }
	client := connect(t, strings.Split(addr, ",")...)
	remove := func(t *testing.T, election string) {
		if _, err := client.Delete(t.Context(), names{DefaultPrefix}.key(election)); err != nil {
			t.Fatal(err)
		}
	}
	tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
}

// all returns the addresses of members as a URL names them.
func all(members []*testserver.Etcd) string {
	var addrs []string
	for _, m := range members {
		addrs = append(addrs, m.Addr)
	}
	return strings.Join(addrs, ",")
}
