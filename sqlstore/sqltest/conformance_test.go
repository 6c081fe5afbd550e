package sqltest

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/tenuretest"
)

func conforms(t *testing.T, d database) {
	db := d.open(t)
	open := func(t *testing.T) tenure.Store { return d.store(t) }
	remove := func(t *testing.T, election string) {
		deletion := "DELETE FROM tenure_elections WHERE election = " + d.dialect.Syntax().Placeholder(1)
		_, err := db.Exec(deletion, election)
		for end := time.Now().Add(patience); err != nil && time.Now().Before(end); {
			// SQLite refuses a writer that has waited for the others of the kit longer than the busy timeout.
			_, err = db.Exec(deletion, election)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
}

func TestConformance(t *testing.T) { onAll(t, conforms) }
