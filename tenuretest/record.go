package tenuretest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/tenure-go/tenure"
)

// held returns a record with a leader and nothing that is optional, in the first term above the store's floor.
func (c *trial) held() tenure.Record {
	return tenure.Record{
		Token: c.floor + 1, Leader: "candidate-a", Session: nonce(), TTL: c.wholeUnits(10 * time.Second), Renewals: 1,
	}
}

// vacant returns the same record after its leader has resigned.
func vacant(record tenure.Record) tenure.Record {
	record.Leader, record.Session, record.Renewals = "", "", 0
	return record
}

// full returns a held record with everything in it that other records only have now and then.
func (c *trial) full() tenure.Record {
	record := c.held()
	record.Address = "https://candidate-a.example:8443"
	record.Metadata = map[string]string{"zone": "north", "build": "17"}
	record.Request = &tenure.Request{Token: record.Token, To: "candidate-b", By: "operator", At: someTime}
	record.Pause = &tenure.Pause{By: "operator", Reason: "maintenance", At: someTime}
	record.Extra = map[string]json.RawMessage{"later": json.RawMessage(`{"depth":[1,2,3]}`)}
	record.ElectedAt, record.RenewedAt = someTime, someTime.Add(time.Minute)
	return record
}

// someTime has whole milliseconds, the resolution that every store has to keep, and a zone that none has to.
var someTime = time.Date(2026, time.February, 28, 23, 59, 58, 765e6, time.FixedZone("", 5*3600+1800))

// unit returns the duration of which every TTL must be a multiple.
func (c *trial) unit() time.Duration {
	if rounder, ok := c.store.(tenure.TTLUnit); ok {
		if unit := rounder.TTLUnit(); unit > 0 && unit <= tenure.MaxTTL { // else TTL-UNIT says so
			return unit
		}
	}
	return time.Millisecond
}

// wholeUnits returns the smallest TTL of at least d that the store can hold.
func (c *trial) wholeUnits(d time.Duration) time.Duration {
	unit := c.unit()
	return (d + unit - 1) / unit * unit
}

// differences says in which fields a record is not the wanted one.
func differences(got, want tenure.Record) []string {
	var found []string
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		if a, b := g.Field(i).Interface(), w.Field(i).Interface(); !equal(a, b) {
			found = append(found, fmt.Sprintf("%s is %s, want %s", g.Type().Field(i).Name, show(a), show(b)))
		}
	}
	return found
}

// equal compares two values of one field by what they mean: instants without their zone, JSON without its spaces,
// and no map like an empty one.
func equal(got, want any) bool {
	switch want := want.(type) {
	case time.Time:
		return got.(time.Time).Equal(want)
	case map[string]string:
		return maps.Equal(got.(map[string]string), want)
	case map[string]json.RawMessage:
		return maps.EqualFunc(got.(map[string]json.RawMessage), want, equalJSON)
	case *tenure.Request:
		return equalRequest(got.(*tenure.Request), want)
	case *tenure.Pause:
		return equalPause(got.(*tenure.Pause), want)
	}
	return got == want
}

func equalRequest(got, want *tenure.Request) bool {
	if got == nil || want == nil {
		return got == want
	}
	g, w := *got, *want
	g.At, w.At = time.Time{}, time.Time{}
	return g == w && got.At.Equal(want.At)
}

func equalPause(got, want *tenure.Pause) bool {
	if got == nil || want == nil {
		return got == want
	}
	g, w := *got, *want
	g.At, w.At = time.Time{}, time.Time{}
	return g == w && got.At.Equal(want.At)
}

func equalJSON(got, want json.RawMessage) bool {
	if bytes.Equal(got, want) {
		return true
	}
	g, gotErr := decode(got)
	w, wantErr := decode(want)
	return gotErr == nil && wantErr == nil && reflect.DeepEqual(g, w)
}

// decode keeps numbers as they are written: one that went through a floating point number has changed.
func decode(text json.RawMessage) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

func show(value any) string {
	if extra, ok := value.(map[string]json.RawMessage); ok {
		return fmt.Sprintf("%s", extra) // as it is: it may be no JSON at all
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%+v", value)
	}
	return string(text)
}
