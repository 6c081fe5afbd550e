package sqlstore

import (
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

func TestRecordsThatCannotBeStored(t *testing.T) {
	fine := tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: time.Second}
	for name, spoil := range map[string]func(*tenure.Record){
		"a fraction of a millisecond": func(r *tenure.Record) { r.TTL += time.Microsecond },
		"a token beyond the largest":  func(r *tenure.Record) { r.Token = tenure.MaxToken + 1 },
		"too many renewals":           func(r *tenure.Record) { r.Renewals = math.MaxInt64 + 1 },
		"a leader without a session":  func(r *tenure.Record) { r.Session = "" },
		"a leader without a TTL":      func(r *tenure.Record) { r.TTL = 0 },
		"a long address":              func(r *tenure.Record) { r.Address = strings.Repeat("x", longestText+1) },
		"extra that is no JSON":       func(r *tenure.Record) { r.Extra = map[string]json.RawMessage{"a": json.RawMessage("{")} },
	} {
		record := fine
		spoil(&record)
		if _, err := newRow(record); !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("%s: the error is %v, want ErrPermanent", name, err)
		}
	}
	if _, err := newRow(fine); err != nil {
		t.Error(err)
	}
}

func TestRowsThatAreDamaged(t *testing.T) {
	fine, err := newRow(tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*row){
		"negative token":      func(r *row) { r.token.Int64 = -1 },
		"negative renewals":   func(r *row) { r.renewals.Int64 = -1 },
		"token too large":     func(r *row) { r.token.Int64 = tenure.MaxToken + 1 },
		"leader, no session":  func(r *row) { r.session = text("") },
		"TTL out of bounds":   func(r *row) { r.ttl = number(tenure.MaxTTL.Milliseconds() + 1) },
		"metadata, no JSON":   func(r *row) { r.metadata = text("zone") },
		"request, no object":  func(r *row) { r.request = text("7") },
		"pause, no object":    func(r *row) { r.pause = text("true") },
		"extra, no JSON":      func(r *row) { r.extra = sql.NullString{Valid: true} },
		"elected_at, no time": func(r *row) { r.electedAt = text("yesterday") },
		"renewed_at, no time": func(r *row) { r.renewedAt = text("2026-01-01") },
	} {
		r := fine
		spoil(&r)
		if _, err := r.record(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := fine.record(); err != nil {
		t.Error(err)
	}
}
