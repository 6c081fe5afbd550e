package memcached

import (
	"errors"
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
)

func TestOpenWithoutAServer(t *testing.T) {
	_, err := Open(t.Context(), "memcached://127.0.0.1:1")
	if err == nil || errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("the error is %v", err)
	}
	if _, err := New(nil); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("New without a client: %v", err)
	}
}
