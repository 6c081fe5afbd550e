//go:build !windows

package clock

import "time"

// Grain is by how much a reading may lag behind: the clock's resolution, with room.
const Grain = time.Microsecond
