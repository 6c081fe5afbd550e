package tenure

import "time"

// Bounds and defaults of a lease.
const (
	// DefaultTTL is the TTL without [WithTTL].
	DefaultTTL = 10 * time.Second
	// MinTTL and MaxTTL are the bounds of a TTL.
	MinTTL = 100 * time.Millisecond
	MaxTTL = 24 * time.Hour
)
