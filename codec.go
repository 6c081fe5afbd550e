package tenure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

// recordFormat is the version of the JSON form. A reader accepts any number up to its own and refuses higher ones,
// which are made only when an old reader could act wrongly; mere additions travel in Extra instead.
const recordFormat = 1

// wireRecord is the JSON form of a Record. Changing it means changing docs/record.md.
type wireRecord struct {
	Format    int               `json:"tenure"`
	Token     uint64            `json:"token"`
	Leader    string            `json:"leader,omitempty"`
	Session   string            `json:"session,omitempty"`
	TTLMillis int64             `json:"ttl_ms,omitempty"`
	Renewals  uint64            `json:"renewals,omitempty"`
	Address   string            `json:"address,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	Reserved  string            `json:"reserved,omitempty"`
	Forgotten bool              `json:"forgotten,omitempty"`
	Request   *Request          `json:"request,omitempty"`
	Pause     *Pause            `json:"pause,omitempty"`
	ElectedAt time.Time         `json:"elected_at,omitzero"`
	RenewedAt time.Time         `json:"renewed_at,omitzero"`
}

// wireNames are the fields that wireRecord reads; all others are kept in Extra.
var wireNames = []string{
	"tenure", "token", "leader", "session", "ttl_ms", "renewals", "address", "metadata", "reserved", "forgotten",
	"request", "pause", "elected_at", "renewed_at",
}

// MarshalJSON writes the wire format, fields in Extra included. A field of Extra never replaces one of the format.
func (r Record) MarshalJSON() ([]byte, error) {
	if r.TTL%time.Millisecond != 0 {
		return nil, fmt.Errorf("tenure: a TTL of %v is no whole number of milliseconds", r.TTL)
	}
	known, err := json.Marshal(wireRecord{
		Format: recordFormat, Token: r.Token, Leader: r.Leader, Session: r.Session,
		TTLMillis: r.TTL.Milliseconds(), Renewals: r.Renewals, Address: r.Address, Metadata: r.Metadata,
		Reserved: r.Reserved, Forgotten: r.Forgotten, Request: r.Request, Pause: r.Pause,
		ElectedAt: r.ElectedAt, RenewedAt: r.RenewedAt,
	})
	if err != nil || len(r.Extra) == 0 {
		return known, err
	}
	extra := maps.Clone(r.Extra)
	for _, name := range wireNames {
		delete(extra, name)
	}
	if len(extra) == 0 {
		return known, nil
	}
	unknown, err := json.Marshal(extra)
	if err != nil {
		return nil, err
	}
	return append(append(known[:len(known)-1], ','), unknown[1:]...), nil
}

// UnmarshalJSON reads the wire format. Text that is not a record of this format is an error: it is never guessed at.
func (r *Record) UnmarshalJSON(text []byte) error {
	wire, extra, err := readWire(text)
	if err != nil {
		return fmt.Errorf("tenure: not an election's record: %w", err)
	}
	if err := wire.check(); err != nil {
		return err
	}
	*r = Record{
		Token: wire.Token, Leader: wire.Leader, Session: wire.Session,
		TTL: time.Duration(wire.TTLMillis) * time.Millisecond, Renewals: wire.Renewals, Address: wire.Address,
		Metadata: wire.Metadata, Reserved: wire.Reserved, Forgotten: wire.Forgotten, Request: wire.Request,
		Pause: wire.Pause, ElectedAt: wire.ElectedAt, RenewedAt: wire.RenewedAt, Extra: extra,
	}
	return nil
}

// readWire reads the fields of the format, and all others only if there are any: that takes as long again, and whoever
// stands by in a herd reads every record.
func readWire(text []byte) (wire wireRecord, extra map[string]json.RawMessage, err error) {
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&wire); err == nil && int(strict.InputOffset()) == len(text) {
		return wire, nil, nil
	}
	wire = wireRecord{}
	if err := json.Unmarshal(text, &wire); err != nil {
		return wire, nil, err
	}
	if err := json.Unmarshal(text, &extra); err != nil {
		return wire, nil, err
	}
	for _, name := range wireNames {
		delete(extra, name)
	}
	if len(extra) == 0 {
		extra = nil
	}
	return wire, extra, nil
}

func (w wireRecord) check() error {
	switch {
	case w.Format == 0:
		return fmt.Errorf("tenure: not an election's record: it has no field \"tenure\"")
	case w.Format > recordFormat:
		return fmt.Errorf("tenure: the record has format %d, this version reads up to %d: upgrade tenure",
			w.Format, recordFormat)
	case w.Token > MaxToken:
		return fmt.Errorf("tenure: the record's token %d is above the largest, %d", w.Token, uint64(MaxToken))
	case w.Leader != "" && (w.Session == "" || w.TTLMillis <= 0):
		return fmt.Errorf("tenure: the record names leader %q without a session and a TTL", w.Leader)
	case w.TTLMillis < 0 || w.TTLMillis > int64(MaxTTL/time.Millisecond):
		return fmt.Errorf("tenure: the record's TTL of %d ms is out of bounds", w.TTLMillis)
	}
	return nil
}
