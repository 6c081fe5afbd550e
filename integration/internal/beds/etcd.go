//go:build linux

package beds

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tenure-go/tenure/internal/testserver"
)

// EtcdCluster is three members of etcd.
func EtcdCluster() Bed {
	return Bed{Name: "etcd", About: "three members", Start: func(tb testserver.TB) (*Server, error) {
		s := &Server{Version: "etcd", URL: func(addrs []string) string {
			return "etcd://" + candidateRole + ":" + etcdPassword + "@" + strings.Join(addrs, ",")
		}}
		for _, e := range testserver.StartEtcdCluster(tb, 3) {
			s.Addrs = append(s.Addrs, e.Addr)
			s.Nodes = append(s.Nodes, Node{Name: e.Name, Process: e.Process})
		}
		s.ChangeLeader = func() (string, error) { return moveLeader(s.Addrs) }
		s.Revoke = etcdRevoke(s.Addrs)
		return s, askForUsers(s.Addrs)
	}}
}

// moveLeader has another member lead the cluster.
func moveLeader(addrs []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var errs error
	for _, addr := range addrs { // the one that leads is the one to ask
		seen, err := moveFrom(ctx, addr)
		if seen != "" || ctx.Err() != nil {
			return seen, err
		}
		errs = errors.Join(errs, err)
	}
	return "", errors.Join(errors.New("no member leads"), errs)
}

// moveFrom asks a member for another leader if it leads, and tells nothing if it does not.
func moveFrom(ctx context.Context, addr string) (seen string, err error) {
	client, err := etcdClient(etcdRoot, addr)
	if err != nil {
		return "", err
	}
	defer func() { _ = client.Close() }()
	status, err := client.Status(ctx, "http://"+addr)
	if err != nil || status.Header.MemberId != status.Leader {
		return "", err
	}
	list, err := client.MemberList(ctx)
	if err != nil {
		return "", err
	}
	for _, m := range list.Members {
		if m.ID == status.Leader {
			continue
		}
		if _, err = client.MoveLeader(ctx, m.ID); err == nil {
			return fmt.Sprintf("%s led, and %s does", addr, m.Name), nil
		}
	}
	return "", err
}
