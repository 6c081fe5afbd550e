package clock

import "time"

// Grain is by how much a reading may lag behind: the system's clocks move on with its ticks, 64 a second by default.
const Grain = 16 * time.Millisecond
