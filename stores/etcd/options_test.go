package etcd

import (
	"errors"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure"
)

func TestOptionsAreChecked(t *testing.T) {
	client := connect(t, "127.0.0.1:1")
	for name, option := range map[string]Option{
		"no prefix": WithPrefix(""), "prefix without a slash": WithPrefix("tenure"),
		"long prefix": WithPrefix(strings.Repeat("x", MaxPrefix) + "/"), "zero in the prefix": WithPrefix("a\x00/"),
		"ping": WithPing(0), "long ping": WithPing(time.Hour),
	} {
		if _, err := New(client, option); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: New returned %v, want ErrConfig", name, err)
		}
	}
	for name, client := range map[string]*clientv3.Client{"nil": nil, "without a connection": clientv3.NewCtxClient(t.Context())} {
		if _, err := New(client); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: New returned %v, want ErrConfig", name, err)
		}
	}
	if _, err := New(client, nil, WithPrefix("/a/b/")); err != nil {
		t.Errorf("New returned %v", err)
	}
}
