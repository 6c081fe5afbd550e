package tenuretest

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/tenure-go/tenure"
)

// survives fails the rule unless each record, written in turn to one election, is loaded as it was written.
func (c *trial) survives(records ...tenure.Record) {
	c.Helper()
	election := c.name()
	var current tenure.Snapshot
	for _, record := range records {
		current = c.swap(election, current.Version, record)
		c.same("the record", c.load(election).Record, record)
	}
}

func recordPlain(c *trial) {
	record := c.held()
	leader := `pod/ÄÖ "β"\選挙🗳 %41;--'`
	record.Leader = leader + strings.Repeat("x", 255-len(leader))
	record.Session = strings.Repeat("0f", 32)
	record.Renewals = 1 << 40
	record.Address = "https://user@[2001:db8::1]:8443/a%2Fb?c=d&e=<f>#g"
	c.survives(record)
}

func recordToken(c *trial) {
	var records []tenure.Record
	for _, token := range []uint64{
		1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<52 + 1, tenure.MaxToken - 1, tenure.MaxToken,
	} {
		if record := c.held(); token > c.floor {
			record.Token = token // held to the end: pruned, it would raise the floor above every other token
			records = append(records, record)
		}
	}
	c.survives(records...)
}

func recordTTL(c *trial) {
	unit := c.unit()
	longest := tenure.MaxTTL / unit * unit
	var records []tenure.Record
	for _, ttl := range []time.Duration{unit, c.wholeUnits(1001 * time.Millisecond), longest - unit, longest} {
		record := c.held()
		record.TTL = ttl
		records = append(records, record)
	}
	c.survives(records...)
}

func recordMetadata(c *trial) {
	record := c.held()
	record.Metadata = map[string]string{
		"zone":        "north",
		"empty":       "",
		"long":        strings.Repeat("0123456789abcdef", 64),
		"quotes":      `"double" 'single' \back\ ` + "`tick`",
		"lines":       "one\ntwo\r\n\tthree\n",
		"html":        "<b>&amp;</b>",
		"json":        `{"a":[1,null]}`,
		"language":    "Ænderung 選挙 🗳️ e\u0301",
		"Zone":        "another key than zone",
		"a.b/c d:e=f": "awkward key",
	}
	c.survives(record)
}

func recordVacant(c *trial) {
	held := c.held()
	reserved := vacant(held)
	reserved.Reserved = "candidate-b"
	c.survives(held, reserved, vacant(held))
}

func recordForgotten(c *trial) {
	held := c.held()
	forgotten := tenure.Record{Token: held.Token, Forgotten: true}
	c.survives(held, forgotten)
}

func recordRequest(c *trial) {
	record := c.held()
	record.Request = &tenure.Request{Token: record.Token, To: "candidate-b", By: "operator@host", At: someTime}
	resign := record
	resign.Request = &tenure.Request{Token: record.Token}
	c.survives(record, resign)
}

func recordPause(c *trial) {
	record := c.held()
	record.Pause = &tenure.Pause{By: "operator@host", Reason: "moving house", At: someTime}
	bare := record
	bare.Pause = &tenure.Pause{}
	c.survives(record, bare)
}

func recordTimes(c *trial) {
	record := c.held()
	record.ElectedAt, record.RenewedAt = someTime, someTime.Add(time.Hour+time.Millisecond)
	c.survives(record, c.held())
}

func recordExtra(c *trial) {
	record := c.held()
	record.Extra = map[string]json.RawMessage{
		"null":   json.RawMessage(`null`),
		"false":  json.RawMessage(`false`),
		"text":   json.RawMessage(`"<a href=\"x\">\u2028 選挙\n"`),
		"number": json.RawMessage(`12345678901234567890`), // beyond the integers of floating point
		"list":   json.RawMessage(`[1, [], {}, "two"]`),
		"object": json.RawMessage(`{"token": 7, "b": {"c": null}, "a": ""}`),
	}
	c.survives(record)
}
