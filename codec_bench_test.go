package tenure_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

// BenchmarkRecordJSON is what every call to a store that keeps text costs besides.
func BenchmarkRecordJSON(b *testing.B) {
	record := tenure.Record{
		Token: 42, Leader: "host-4711-k3q9z1", Session: "f81d4fae7dec11d0a76500a0", TTL: 10 * time.Second, Renewals: 77,
		Address: "10.0.0.7:8080", Metadata: map[string]string{"zone": "b"},
		ElectedAt: time.Unix(1700000000, 0).UTC(), RenewedAt: time.Unix(1700000100, 0).UTC(),
	}
	text, err := json.Marshal(record)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			if _, err := json.Marshal(record); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			var r tenure.Record
			if err := json.Unmarshal(text, &r); err != nil {
				b.Fatal(err)
			}
		}
	})
}
