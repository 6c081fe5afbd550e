package s3

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/objectstore"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/tenuretest"
)

func TestConformance(t *testing.T) {
	server := testserver.StartVersityGW(t)
	open := func(t *testing.T) tenure.Store { return openStore(t, server, server.Endpoint()) }
	remove := func(t *testing.T, election string) {
		// The names that the kit deletes need no escaping.
		if err := os.Remove(filepath.Join(server.Dir, objectstore.DefaultPrefix, "elections", election+".json")); err != nil {
			t.Fatal(err)
		}
	}
	tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
}

func isPermanent(err error) bool { return errors.Is(err, tenure.ErrPermanent) }
