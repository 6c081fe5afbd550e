package measure_test

import (
	"context"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/adapters/internal/measure"
	"github.com/tenure-go/tenure/memory"
	"github.com/tenure-go/tenure/tenuretest"
)

func TestConformance(t *testing.T) {
	tenuretest.Run(t, func(*testing.T) tenure.Store {
		return measure.Wrap(memory.New(), measure.NewRecorder(&ledger{values: map[string]float64{}}))
	})
}

// plain is a store that is nothing else.
type plain struct{ tenure.Store }

type coarse struct{ tenure.Store }

func (coarse) TTLUnit() time.Duration { return time.Second }

// What a candidate finds out about a store it finds out about the wrapped one: above all whether it watches, since it
// times itself by that.
func TestWrappedStoresAreWhatTheyWrap(t *testing.T) {
	recorder := measure.NewRecorder(&ledger{values: map[string]float64{}})
	inner := memory.New()
	defer inner.Close()
	watching, silent := measure.Wrap(inner, recorder), measure.Wrap(plain{inner}, recorder)
	if _, ok := watching.(tenure.Watcher); !ok {
		t.Error("a store that watches no longer does")
	}
	if _, ok := silent.(tenure.Watcher); ok {
		t.Error("a store that does not watch claims to")
	}
	for want, store := range map[tenure.Grade]tenure.Store{tenure.GradeExclusive: watching, tenure.GradeUnknown: silent} {
		g, ok := store.(tenure.Guarantor)
		if !ok {
			t.Fatal("no guarantor")
		}
		if got, err := g.Guarantee(context.Background()); err != nil || got.Grade != want {
			t.Errorf("grade %v, %v; want %v", got.Grade, err, want)
		}
	}
	for want, store := range map[time.Duration]tenure.Store{
		time.Millisecond: watching, time.Second: measure.Wrap(coarse{inner}, recorder),
	} {
		if u, ok := store.(tenure.TTLUnit); !ok || u.TTLUnit() != want {
			t.Errorf("the unit of the TTL is not %v", want)
		}
	}
	if u, ok := silent.(interface{ Unwrap() tenure.Store }); !ok || u.Unwrap() != (plain{inner}) {
		t.Error("the inner store is not to be had")
	}
}
