//go:build linux

package beds

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/tenure-go/tenure/stores/etcd"
)

// The administrator of a cluster of etcd, and the password of both users. The candidates' user has the right that the
// store's README asks for, and no other.
const (
	etcdRoot     = "root"
	etcdPassword = "secret"
)

// The keys that the candidates' role is for: those of the store's prefix.
var etcdBegin, etcdEnd = etcd.DefaultPrefix, clientv3.GetPrefixRangeEnd(etcd.DefaultPrefix)

// etcdClient returns a client of the administrator, or of anybody as long as the cluster asks for no user.
func etcdClient(user string, addrs ...string) (*clientv3.Client, error) {
	config := clientv3.Config{Logger: zap.NewNop()}
	if user != "" {
		config.Username, config.Password = user, etcdPassword
	}
	for _, addr := range addrs {
		config.Endpoints = append(config.Endpoints, "http://"+addr)
	}
	return clientv3.New(config)
}

// askForUsers makes the users, and has the cluster ask for them from now on.
func askForUsers(addrs []string) error {
	client, err := etcdClient("", addrs...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, role := client.RoleAdd(ctx, candidateRole)
	granted := grant(ctx, client)
	_, user := client.UserAdd(ctx, candidateRole, etcdPassword)
	_, bound := client.UserGrantRole(ctx, candidateRole, candidateRole)
	_, root := client.UserAdd(ctx, etcdRoot, etcdPassword)
	_, mighty := client.UserGrantRole(ctx, etcdRoot, etcdRoot)
	if err := errors.Join(role, granted, user, bound, root, mighty); err != nil {
		return err
	}
	_, err = client.AuthEnable(ctx)
	return err
}

func grant(ctx context.Context, client *clientv3.Client) error {
	_, err := client.RoleGrantPermission(
		ctx, candidateRole, etcdBegin, etcdEnd, clientv3.PermissionType(clientv3.PermReadWrite))
	return err
}

// etcdRevoke takes the right away from the candidates' role.
func etcdRevoke(addrs []string) func() (func() error, error) {
	administer := func(do func(context.Context, *clientv3.Client) error) error {
		client, err := etcdClient(etcdRoot, addrs...)
		if err != nil {
			return err
		}
		defer func() { _ = client.Close() }()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		return do(ctx, client)
	}
	return func() (func() error, error) {
		return func() error { return administer(grant) }, administer(func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.RoleRevokePermission(ctx, candidateRole, etcdBegin, etcdEnd)
			return err
		})
	}
}
