package tenuretest

import "github.com/tenure-go/tenure"

func aliasIn(c *trial) {
	election, record := c.name(), c.full()
	if _, err := c.pass(c.store, election, "", record); err != nil {
		c.fail("CompareAndSwap returned the error %v", err)
	}
	before := c.load(election).Record.Clone()
	scribble(record)
	c.same("the record, which its writer has changed since,", c.load(election).Record, before)
}

func aliasOut(c *trial) {
	election := c.name()
	returned := c.create(election, c.full())
	loaded := c.load(election)
	before := loaded.Record.Clone()
	scribble(returned.Record)
	scribble(loaded.Record)
	c.same("the record, which its readers have changed since,", c.load(election).Record, before)
}

// scribble changes everything that a copy of the record might share with it.
func scribble(record tenure.Record) {
	if record.Metadata != nil {
		record.Metadata["zone"] = "scribbled"
	}
	for name, text := range record.Extra {
		copy(text, "scribbled")
		record.Extra[name+"-scribbled"] = text
	}
	if record.Request != nil {
		record.Request.By = "scribbled"
	}
	if record.Pause != nil {
		record.Pause.By = "scribbled"
	}
}

// apart returns a copy of the snapshot that shares nothing with it.
func apart(snapshot tenure.Snapshot) tenure.Snapshot {
	snapshot.Record = snapshot.Record.Clone()
	return snapshot
}
