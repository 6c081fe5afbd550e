package s3

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tenure-go/tenure"
)

func TestWrongOptions(t *testing.T) {
	c := s3.New(s3.Options{})
	for _, prefix := range []string{"p", "/p/", "\xff/", strings.Repeat("p", 200) + "/"} {
		if _, err := New(c, "b", WithPrefix(prefix)); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
	if _, err := New(nil, "b"); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("without a client: %v", err)
	}
	if _, err := New(c, ""); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("without a bucket: %v", err)
	}
	if _, err := New(c, "b", WithPrefix(""), nil); err != nil {
		t.Errorf("without a prefix: %v", err)
	}
}
