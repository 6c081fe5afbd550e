package supervisor

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// TestTimingIsAccepted: whatever check lets pass, the library accepts, however long the drain is.
func TestTimingIsAccepted(t *testing.T) {
	for _, ttl := range []time.Duration{134 * time.Millisecond, time.Second, 10 * time.Second, tenure.MaxTTL} {
		for drain := MinDrain; drain <= ttl*3/4; drain += max(ttl/97, time.Millisecond) {
			o := Options{
				Command: []string{"true"}, TTL: ttl, Drain: drain, RestartDelay: time.Second, Logger: slog.New(slog.DiscardHandler),
			}
			if err := o.check(); err != nil {
				t.Fatal(err)
			}
			if _, err := tenure.New(memory.New(), "x", o.candidate()...); err != nil {
				t.Fatalf("TTL %v, drain %v: %v", ttl, drain, err)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	good := Options{Command: []string{"true"}, TTL: 10 * time.Second, Drain: 2 * time.Second, RestartDelay: time.Second}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Options){
		"no command":    func(o *Options) { o.Command = nil },
		"TTL":           func(o *Options) { o.TTL = tenure.MinTTL - 1 },
		"drain":         func(o *Options) { o.Drain = MinDrain - 1 },
		"long drain":    func(o *Options) { o.Drain = o.TTL*3/4 + 1 },
		"restart delay": func(o *Options) { o.RestartDelay = 0 },
	} {
		bad := good
		change(&bad)
		if err := bad.check(); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestRestartWanted(t *testing.T) {
	for _, c := range []struct {
		policy Restart
		status int
		wanted bool
	}{
		{RestartNever, 0, false},
		{RestartNever, 1, false},
		{"", 1, false},
		{RestartOnFailure, 0, false},
		{RestartOnFailure, 1, true},
		{RestartOnFailure, 137, true},
		{RestartAlways, 0, true},
		{RestartAlways, 1, true},
	} {
		if got := c.policy.wanted(c.status); got != c.wanted {
			t.Errorf("%q after status %d: %v", c.policy, c.status, got)
		}
	}
}
