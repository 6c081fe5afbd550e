package azblob

import (
	"errors"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/tenure-go/tenure"
)

func TestWrongOptions(t *testing.T) {
	c, err := container.NewClientWithNoCredential("https://a.blob.core.windows.net/c", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"p", "/p/", "\xff/", strings.Repeat("p", 200) + "/"} {
		if _, err := New(c, WithPrefix(prefix)); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
	if _, err := New(nil); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("without a client: %v", err)
	}
	if _, err := New(c, WithPrefix(""), nil); err != nil {
		t.Errorf("without a prefix: %v", err)
	}
}
