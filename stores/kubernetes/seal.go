package kubernetes

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// seal is what an elector writes into a Lease's spec, in a form that can be compared. The annotation holds the one that
// was written with its record: if the spec still says the same, nobody has led since whom the annotation does not know.
type seal struct {
	Holder      string `json:"holder"`
	Seconds     int32  `json:"seconds"`
	Transitions int32  `json:"transitions"`
	Acquired    int64  `json:"acquired_us,omitempty"` // microseconds since 1970, as fine as a Lease can tell
	Renewed     int64  `json:"renewed_us,omitempty"`
}

func sealOf(spec coordinationv1.LeaseSpec) seal {
	return seal{
		Holder: value(spec.HolderIdentity), Seconds: value(spec.LeaseDurationSeconds),
		Transitions: value(spec.LeaseTransitions), Acquired: micros(spec.AcquireTime), Renewed: micros(spec.RenewTime),
	}
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func micros(t *metav1.MicroTime) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// microTime returns nil for a zero time, which a Lease leaves out.
func microTime(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	return &metav1.MicroTime{Time: t.UTC().Truncate(time.Microsecond)}
}
