package report

import "testing"

// The tables in the documents are those of the results that are kept.
func TestDocumentsShowTheResults(t *testing.T) {
	for _, name := range []string{"../../../README.md", "../../README.md"} {
		if err := CheckDocument(name, "../../results"); err != nil {
			t.Error(err)
		}
	}
}
