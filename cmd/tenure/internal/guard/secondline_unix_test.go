//go:build unix

package guard

import "testing"

// What was done to a group here, while its guard process was stuck, must not be taken for the command's own end.
func TestCauseOfWhatTheGuardProcessHasNotDone(t *testing.T) {
	for what, test := range map[string]struct {
		acted          phase
		reported, want Cause
	}{
		"the command's own end":                 {leading, CauseExit, CauseExit},
		"the guard process did it as asked":     {leading, CauseAsked, CauseAsked},
		"it was stuck, and saw the command end": {killing, CauseExit, CauseAsked},
		"the same in the drain":                 {draining, CauseExit, CauseAsked},
		"it was slow, and knows why":            {killing, CauseDeadline, CauseDeadline},
	} {
		l := &secondLine{acted: test.acted}
		l.course.enter(test.acted, CauseAsked)
		l.note(report{Kind: reportEnded, Cause: test.reported})
		if l.ended == nil || l.ended.Cause != test.want {
			t.Errorf("%s: %+v, want the cause %v", what, l.ended, test.want)
		}
	}
}
