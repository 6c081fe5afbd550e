//go:build unix

package file

import (
	"os"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/tenuretest"
)

func TestConformance(t *testing.T) {
	dir := newDir(t)
	open := func(t *testing.T) tenure.Store { return openStore(t, dir) }
	remove := func(t *testing.T, election string) { must(t, os.Remove(layout(dir).record(stem(election)))) }
	tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
}
