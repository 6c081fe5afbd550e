package tenuretest

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenure-go/tenure"
)

// A store may hold an open file or a connection for the term that stands, but not for those that are over.
func TestOpenFilesLeftBehindAreFound(t *testing.T) {
	for fault, kept := range map[string]int{"keeps one file": 1, "keeps every file": 1000} {
		t.Run(fault, func(t *testing.T) {
			var open []*os.File
			keep := func(w write) (tenure.Snapshot, error) {
				file, err := os.Open(os.DevNull)
				if err != nil {
					return tenure.Snapshot{}, err
				}
				if open = append(open, file); len(open) > kept {
					_ = open[0].Close()
					open = open[1:]
				}
				return w.done()
			}
			defer func() {
				for _, file := range open {
					_ = file.Close()
				}
			}()
			synctest.Test(t, func(t *testing.T) {
				store, subject := sound()
				swapping(keep)(store, &subject)
				i := slices.IndexFunc(rules, func(r rule) bool { return r.id == "LEFT-TERMS" })
				failure := judge(t.Context(), rules[i], subject)
				if found := strings.HasPrefix(failure, "LEFT-TERMS: "); found != (kept > 1) {
					t.Errorf("the verdict on a store that %s is %q", fault, failure)
				}
			})
		})
	}
}
