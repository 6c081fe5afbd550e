package floor

import (
	"testing"

	"github.com/tenure-go/tenure"
)

func TestRefuses(t *testing.T) {
	held := func(token uint64) tenure.Record { return tenure.Record{Token: token, Leader: "a", Session: "s"} }
	vacant := func(token uint64) tenure.Record { return tenure.Record{Token: token} }
	for _, c := range []struct {
		floor  uint64
		record tenure.Record
		want   bool
	}{
		{0, held(1), false},
		{0, vacant(0), false},
		{5, held(4), true},
		{5, held(5), true},
		{5, held(6), false},
		{5, vacant(4), true},
		{5, vacant(5), false},
		{5, vacant(6), false},
	} {
		if got := Refuses(c.floor, c.record); got != c.want {
			t.Errorf("with the floor %d, %+v is refused: %v", c.floor, c.record, got)
		}
	}
}
