package sqltest

import (
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/tenuretest"
)

func conforms(t *testing.T, d database) {
	db := d.open(t)
	open := func(t *testing.T) tenure.Store { return d.store(t) }
	remove := func(t *testing.T, election string) {
		placeholder := d.dialect.Syntax().Placeholder(1)
		if _, err := db.Exec("DELETE FROM tenure_elections WHERE election = "+placeholder, election); err != nil {
			t.Fatal(err)
		}
	}
	tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
}

func TestConformance(t *testing.T) { onAll(t, conforms) }
