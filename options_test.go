package tenure_test

import (
	"errors"
	"iter"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// S12: a configuration that cannot be safe is refused at construction, with the inequality and its values.
func TestS12RefusedConfigurations(t *testing.T) {
	store := memory.New()
	long := strings.Repeat("x", 256)
	for _, test := range []struct {
		name    string
		options []tenure.Option
		says    string
	}{
		{"TTL too short", []tenure.Option{tenure.WithTTL(time.Millisecond)}, "TTL 1ms must be between 100ms and 24h0m0s"},
		{"TTL too long", []tenure.Option{tenure.WithTTL(25 * time.Hour)}, "TTL 25h0m0s must be between"},
		{"TTL not whole", []tenure.Option{tenure.WithTTL(time.Second + 1)}, "TTL 1.000000001s must be a multiple of 1ms"},
		{
			"drain eats the lease",
			[]tenure.Option{tenure.WithDrain(5 * time.Second)},
			"3.333333333s + 2 · 1.666666666s > 10s · (1 - 0.01) - 1µs - 5s = 4.899999s",
		},
		{"negative drain", []tenure.Option{tenure.WithDrain(-1)}, "drain >= 10ms, but it is -1ns"},
		{
			"renewal too slow",
			[]tenure.Option{tenure.WithRenewInterval(9 * time.Second)},
			"renew interval + 2 · call timeout <= TTL · (1 - clock error) - grain of the clocks - drain, but 9s + 2 · 1.666666666s >",
		},
		{"no renewal", []tenure.Option{tenure.WithRenewInterval(0)}, "renew interval 0s must be positive"},
		{"poll too slow", []tenure.Option{tenure.WithPollInterval(11 * time.Second)}, "poll interval <= TTL, but 11s > 10s"},
		{"no call timeout", []tenure.Option{tenure.WithCallTimeout(0)}, "call timeout 0s must be positive"},
		{"clock error", []tenure.Option{tenure.WithClockError(0.2)}, "clock error 0.2 must be between 0 and 0.1"},
		{"clock error is not a number", []tenure.Option{tenure.WithClockError(math.NaN())}, "clock error NaN must be"},
		{"max failures", []tenure.Option{tenure.WithMaxFailures(-1)}, "max failures -1 must not be negative"},
		{"priority", []tenure.Option{tenure.WithPriority(1)}, "priority 1 must be between -10 and 0"},
		{"spread", []tenure.Option{tenure.WithBidSpread(-time.Second)}, "bid spread -1s must not be negative"},
		{"health interval", []tenure.Option{tenure.WithHealthCheck(nil, -time.Second)}, "health check interval -1s"},
		{"back-off bounds", []tenure.Option{tenure.WithBackoff(tenure.Backoff{Initial: 2, Max: 1})}, "initial is 2ns, max 1ns"},
		{"back-off factor", []tenure.Option{tenure.WithBackoff(tenure.Backoff{Factor: 0.5})}, "back-off factor 0.5 must be at least 1"},
		{"back-off jitter", []tenure.Option{tenure.WithBackoff(tenure.Backoff{Jitter: 2})}, "back-off jitter 2 must be between 0 and 1"},
		{"ID too long", []tenure.Option{tenure.WithID(long)}, "the name of the candidate has 256 bytes, more than 255"},
		{"ID with control characters", []tenure.Option{tenure.WithID("a\nb")}, `"a\nb", contains a control character`},
		{"grade", []tenure.Option{tenure.WithMinimumGrade(9)}, "minimum grade 9 is none of the grades"},
		{"observer", []tenure.Option{tenure.WithObserver(nil)}, "an observer is nil"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := tenure.New(store, name, test.options...)
			if c != nil || !errors.Is(err, tenure.ErrConfig) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("New = %v, %v\nwant an error that says %q", c, err, test.says)
			}
		})
	}
}

func TestNewRefusesNames(t *testing.T) {
	store := memory.New()
	for election, says := range map[string]string{
		"":                       "the election has no name",
		strings.Repeat("é", 128): "256 bytes",
		"a\x7fb":                 "control character",
		"a\xffb":                 "not valid UTF-8",
	} {
		if _, err := tenure.New(store, election); !errors.Is(err, tenure.ErrConfig) || !strings.Contains(err.Error(), says) {
			t.Errorf("New(%q) = %v, want %q", election, err, says)
		}
	}
}

// TestNoStore: whatever takes a store refuses to do without one, instead of panicking at its first use.
func TestNoStore(t *testing.T) {
	ctx := t.Context()
	for call, run := range map[string]func() error{
		"New":     func() error { _, err := tenure.New(nil, name); return err },
		"Ask":     func() error { _, err := tenure.Ask(ctx, nil, name, tenure.Request{}); return err },
		"Pause":   func() error { _, err := tenure.SetPause(ctx, nil, name, tenure.Pause{}); return err },
		"Resume":  func() error { _, err := tenure.LiftPause(ctx, nil, name); return err },
		"Forget":  func() error { return tenure.Forget(ctx, nil, name) },
		"Observe": func() error { return firstError(tenure.Observe(ctx, nil, name)) },
	} {
		if err := run(); !errors.Is(err, tenure.ErrConfig) || !strings.Contains(err.Error(), "the store is nil") {
			t.Errorf("%s without a store = %v", call, err)
		}
	}
}

func firstError(changes iter.Seq2[tenure.Change, error]) error {
	for _, err := range changes {
		return err
	}
	return nil
}

func TestDefaults(t *testing.T) {
	a, err := tenure.New(memory.New(), "a/b c:ü", nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := tenure.New(memory.New(), "a/b c:ü")
	if err != nil {
		t.Fatal(err)
	}
	if a.ID() == b.ID() || a.ID() == "" || a.Election() != "a/b c:ü" {
		t.Errorf("IDs %q and %q", a.ID(), b.ID())
	}
	for _, ttl := range []time.Duration{tenure.MinTTL, time.Second, tenure.MaxTTL} {
		if _, err := tenure.New(memory.New(), name, tenure.WithTTL(ttl)); err != nil {
			t.Errorf("the defaults do not fit a TTL of %v: %v", ttl, err)
		}
	}
}

// seconds is a store that holds whole seconds only.
type seconds struct{ tenure.Store }

func (seconds) TTLUnit() time.Duration { return time.Second }

func TestS9TTLThatTheStoreCannotHold(t *testing.T) {
	store := seconds{memory.New()}
	if _, err := tenure.New(store, name, tenure.WithTTL(1500*time.Millisecond)); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("New = %v", err)
	}
	if _, err := tenure.New(store, name, tenure.WithTTL(2*time.Second)); err != nil {
		t.Errorf("New = %v", err)
	}
}
