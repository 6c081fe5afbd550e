package certainty

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

func TestMark(t *testing.T) {
	for _, c := range []struct {
		err   error
		known bool
	}{
		{fmt.Errorf("at the store: %w", tenure.ErrConflict), true},
		{tenure.NotApplied(errors.New("busy"), time.Second), true},
		{tenure.Permanent(errors.New("denied")), true},
		{errors.New("the connection was lost"), false},
		{context.DeadlineExceeded, false},
	} {
		if NotWritten(c.err) != c.known {
			t.Errorf("NotWritten(%v) is %v", c.err, !c.known)
		}
		marked := Mark(c.err)
		if c.known && marked.Error() != c.err.Error() {
			t.Errorf("%v became %v", c.err, marked)
		}
		if !c.known && !errors.Is(marked, tenure.ErrNotApplied) || !errors.Is(marked, c.err) {
			t.Errorf("%v became %v", c.err, marked)
		}
	}
	if got := tenure.RetryAfter(Mark(tenure.NotApplied(errors.New("busy"), time.Second))); got != time.Second {
		t.Errorf("the wait that was asked for became %v", got)
	}
}
