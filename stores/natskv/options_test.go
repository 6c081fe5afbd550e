package natskv

import (
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
)

func TestOptionsAreChecked(t *testing.T) {
	server := testserver.StartNATS(t)
	js := connect(t, server.Addr)
	for name, option := range map[string]Option{
		"replicas": WithReplicas(0), "more replicas": WithReplicas(6), "storage": WithStorage(7),
		"heartbeat": WithHeartbeat(0), "long heartbeat": WithHeartbeat(time.Minute),
	} {
		if _, err := New(js, "elections", option); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: New returned %v, want ErrConfig", name, err)
		}
	}
	if _, err := New(js, "a.b"); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("New in a bucket that cannot be returned %v, want ErrConfig", err)
	}
	if _, err := New(nil, "elections"); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("New without JetStream returned %v, want ErrConfig", err)
	}
	if _, err := New(js, "elections", nil); err != nil {
		t.Errorf("New with an option that is nil returned %v", err)
	}
}
