package tenure_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

func fullRecord() tenure.Record {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	return tenure.Record{
		Token: tenure.MaxToken, Leader: "node-a", Session: "S", TTL: 1500 * time.Millisecond, Renewals: 3,
		Address: "10.0.0.1:80", Metadata: map[string]string{"zone": "north"}, Reserved: "node-b", Forgotten: true,
		Request:   &tenure.Request{Token: 7, To: "node-b", By: "ops", At: at},
		Pause:     &tenure.Pause{By: "ops", Reason: "migration", At: at},
		ElectedAt: at, RenewedAt: at.Add(time.Second),
		Extra: map[string]json.RawMessage{"later": json.RawMessage(`{"a":[1,2]}`)},
	}
}

// The wire format is what other versions and other languages read: it must not change by accident.
const fullText = `{"tenure":1,"token":9007199254740991,"leader":"node-a","session":"S","ttl_ms":1500,"renewals":3,` +
	`"address":"10.0.0.1:80","metadata":{"zone":"north"},"reserved":"node-b","forgotten":true,` +
	`"request":{"token":7,"to":"node-b","by":"ops","at":"2026-01-02T03:04:05.006Z"},` +
	`"pause":{"by":"ops","reason":"migration","at":"2026-01-02T03:04:05.006Z"},` +
	`"elected_at":"2026-01-02T03:04:05.006Z","renewed_at":"2026-01-02T03:04:06.006Z","later":{"a":[1,2]}}`

func TestRecordJSON(t *testing.T) {
	for _, test := range []struct {
		record tenure.Record
		text   string
	}{
		{tenure.Record{}, `{"tenure":1,"token":0}`},
		{fullRecord(), fullText},
	} {
		text, err := json.Marshal(test.record)
		if err != nil || string(text) != test.text {
			t.Errorf("Marshal = %s, %v\nwant %s", text, err, test.text)
		}
		var back tenure.Record
		if err := json.Unmarshal([]byte(test.text), &back); err != nil || !reflect.DeepEqual(back, test.record) {
			t.Errorf("Unmarshal = %+v, %v\nwant %+v", back, err, test.record)
		}
	}
}

func TestRecordJSONKeepsItsOwnFields(t *testing.T) {
	r := tenure.Record{Token: 1, Extra: map[string]json.RawMessage{"token": json.RawMessage("99"), "x": json.RawMessage("1")}}
	text, err := json.Marshal(r)
	if want := `{"tenure":1,"token":1,"x":1}`; err != nil || string(text) != want {
		t.Errorf("Marshal = %s, %v; want %s", text, err, want)
	}
	r.Extra = map[string]json.RawMessage{"token": json.RawMessage("99")}
	text, err = json.Marshal(r)
	if want := `{"tenure":1,"token":1}`; err != nil || string(text) != want {
		t.Errorf("Marshal = %s, %v; want %s", text, err, want)
	}
}

// Text that is not a record is never guessed at.
func TestRecordJSONRefuses(t *testing.T) {
	for text, says := range map[string]string{
		`{`:                                     "unexpected end",
		`[]`:                                    "not an election's record",
		`{"token":1}`:                           `it has no field "tenure"`,
		`{"tenure":2,"token":1}`:                "format 2, this version reads up to 1: upgrade",
		`{"tenure":1,"token":-1}`:               "not an election's record",
		`{"tenure":1,"token":9007199254740992}`: "above the largest",
		`{"tenure":1,"token":1,"leader":"a"}`:   "without a session and a TTL",
		`{"tenure":1,"token":1,"leader":"a","session":"s","ttl_ms":0}`: "without a session and a TTL",
		`{"tenure":1,"token":1,"ttl_ms":86400001}`:                     "out of bounds",
		`{"tenure":1,"token":1,"ttl_ms":-1}`:                           "out of bounds",
	} {
		var r tenure.Record
		if err := json.Unmarshal([]byte(text), &r); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Unmarshal(%s) = %v, want %q", text, err, says)
		}
	}
	if _, err := json.Marshal(tenure.Record{TTL: time.Microsecond}); err == nil {
		t.Error("a TTL that the format cannot hold was written")
	}
}

func TestRecordCloneSharesNothing(t *testing.T) {
	a := fullRecord()
	b := a.Clone()
	b.Metadata["zone"], b.Request.To, b.Pause.Reason = "x", "x", "x"
	b.Extra["later"][0] = 'x'
	if !reflect.DeepEqual(a, fullRecord()) {
		t.Errorf("the original has changed: %+v", a)
	}
}
