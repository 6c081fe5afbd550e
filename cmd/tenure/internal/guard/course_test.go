package guard

import (
	"testing"
	"time"
)

func TestCourse(t *testing.T) {
	extend := func(signalAt, killAt Instant) order {
		return order{Kind: orderExtend, Deadlines: Deadlines{signalAt, killAt}}
	}
	terminate := func(killAt Instant) order {
		return order{Kind: orderTerminate, Deadlines: Deadlines{KillAt: killAt}}
	}
	kill := order{Kind: orderKill}

	type step struct {
		at    Instant
		order *order
		want  phase
	}
	tests := map[string]struct {
		steps []step // from deadlines of 100 and 200
		cause Cause
	}{
		"deadlines pass": {
			[]step{{99, nil, leading}, {100, nil, draining}, {199, nil, draining}, {200, nil, killing}}, CauseDeadline,
		},
		"both pass in one sleep":    {[]step{{99, nil, leading}, {500, nil, killing}}, CauseDeadline},
		"an extension in time":      {[]step{{99, new(extend(300, 400)), leading}, {300, nil, draining}}, CauseDeadline},
		"an extension that is late": {[]step{{100, new(extend(300, 400)), draining}, {200, nil, killing}}, CauseDeadline},
		"an extension while draining": {
			[]step{{100, nil, draining}, {150, new(extend(300, 400)), draining}, {200, nil, killing}}, CauseDeadline,
		},
		"an extension while killing": {[]step{{200, nil, killing}, {201, new(extend(300, 400)), killing}}, CauseDeadline},
		"an extension that is stale": {[]step{{50, new(extend(40, 45)), killing}}, CauseDeadline},
		"an extension that shortens": {[]step{{50, new(extend(60, 70)), leading}, {60, nil, draining}}, CauseDeadline},
		"terminate":                  {[]step{{50, new(terminate(60)), draining}, {60, nil, killing}}, CauseAsked},
		"terminate cannot prolong":   {[]step{{50, new(terminate(900)), draining}, {200, nil, killing}}, CauseAsked},
		"terminate twice": {
			[]step{{50, new(terminate(90)), draining}, {55, new(terminate(60)), draining}, {60, nil, killing}}, CauseAsked,
		},
		"no extension after terminate": {
			[]step{{50, new(terminate(60)), draining}, {51, new(extend(300, 400)), draining}, {60, nil, killing}}, CauseAsked,
		},
		"kill":                {[]step{{50, &kill, killing}, {51, new(extend(300, 400)), killing}}, CauseAsked},
		"kill while draining": {[]step{{100, nil, draining}, {101, &kill, killing}}, CauseDeadline},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := course{deadlines: Deadlines{100, 200}}
			for _, s := range test.steps {
				if s.order != nil {
					c.obey(s.at, *s.order)
				} else {
					c.advance(s.at)
				}
				if c.phase != s.want {
					t.Fatalf("at %d: phase %d, want %d", s.at, c.phase, s.want)
				}
			}
			if c.cause != test.cause {
				t.Errorf("cause %q, want %q", c.cause, test.cause)
			}
		})
	}
}

func TestCourseAfterTheCommand(t *testing.T) {
	c := course{deadlines: Deadlines{100, 130}}
	c.exited(50)
	if c.phase != draining || c.cause != CauseExit {
		t.Fatalf("after the exit: phase %d, cause %q", c.phase, c.cause)
	}
	if c.advance(79); c.phase != draining {
		t.Error("what the command left behind did not get the grace of 30")
	}
	if c.advance(80); c.phase != killing {
		t.Error("what the command left behind outlives the grace of 30")
	}

	c = course{deadlines: Deadlines{100, 130}}
	c.obey(50, order{Kind: orderTerminate, Deadlines: Deadlines{KillAt: 70}})
	if c.exited(60); c.phase != draining || c.next() != 70 {
		t.Errorf("the exit of a command told to stop until 70 moved that to %d, phase %d", c.next(), c.phase)
	}
}

func TestCourseAbandoned(t *testing.T) {
	c := course{deadlines: Deadlines{100, 200}}
	if c.abandon(CauseAbandoned); c.phase != killing || c.cause != CauseAbandoned {
		t.Errorf("phase %d, cause %q: without a supervisor nobody leads", c.phase, c.cause)
	}
}

func TestWithin(t *testing.T) {
	const trusted = Instant(time.Hour)
	d := Within(trusted, 2*time.Second)
	want := Deadlines{trusted, trusted.Add(1500 * time.Millisecond)}
	if d != want {
		t.Errorf("Within = %v, want %v", d, want)
	}
	margin := trusted.Add(2 * time.Second).Sub(d.KillAt)
	if d.patience() > margin/3 {
		t.Errorf("the second enforcer waits for %v of the margin of %v", d.patience(), margin)
	}
}

func TestDeadlinesCheck(t *testing.T) {
	for _, bad := range []Deadlines{{}, {0, 5}, {-1, 5}, {10, 9}} {
		if bad.check() == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
	if err := (Deadlines{5, 5}).check(); err != nil {
		t.Error(err)
	}
}

func TestExpiryReadsTheClockFirst(t *testing.T) {
	var inside Instant
	expiry := Expiry(func() time.Duration {
		for before := Now(); inside <= before; { // until the clock has visibly moved
			inside = Now()
		}
		return time.Minute
	})
	if expiry >= inside.Add(time.Minute) {
		t.Error("time that passed while asking for the lease made its end later")
	}
}
