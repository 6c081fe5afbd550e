package tenuretest

func secondSees(c *trial) {
	election, other := c.name(), c.second()
	created, mine, theirs := c.create(election, c.held()), c.held(), c.held()
	current := c.swap(election, created.Version, mine)
	c.eventually("another client loads what the first one wrote", func() bool {
		return c.loadFrom(other, election).Record.Session == mine.Session
	})
	c.swapIn(other, election, current.Version, theirs)
	c.eventually("the first client loads what another one wrote", func() bool {
		return c.load(election).Record.Session == theirs.Session
	})
	c.conflict(election, current.Version, c.held())
}

func secondOneWinner(c *trial) {
	const rounds = 32
	election, other := c.name(), c.second()
	created := c.create(election, c.held())
	current := c.swap(election, created.Version, c.held())
	for range rounds {
		current = c.oneWinner(election, current.Version, c.crowd(2, c.store, other)).got
	}
}

func secondWatch(c *trial) {
	election, other := c.name(), c.second()
	current := c.create(election, c.held())
	box := c.watch(election)
	c.settle()
	for range 3 {
		current = c.swapIn(other, election, current.Version, c.held())
		box.await(c, "a change by another client", has(current.Version))
	}
}
