package azblob

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/tenure-go/tenure"
)

// The grade depends on whose service it is.
func TestGuarantee(t *testing.T) {
	for at, want := range map[string]tenure.Grade{
		"https://a.blob.core.windows.net/c":         tenure.GradeExclusive,
		"https://a.z1.blob.storage.azure.net/c":     tenure.GradeExclusive,
		"https://a.blob.core.windows.net.example/c": tenure.GradeUnknown,
		"http://127.0.0.1:10000/a/c":                tenure.GradeUnknown,
	} {
		c, err := container.NewClientWithNoCredential(at, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		if g := s.guarantee(); g.Grade != want || len(g.Reasons) == 0 {
			t.Errorf("%s: %+v", at, g)
		}
	}
}
