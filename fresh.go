package tenure

import (
	"crypto/rand"
	"encoding/binary"
	"time"
)

// fresh is a source of numbers that copies of this process do not share, not even if the kernel's own generator was
// copied with them: the time of the call is mixed in, to the nanosecond.
type fresh struct{}

// Uint64 makes fresh a source for the machine.
func (fresh) Uint64() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return mix(binary.NativeEndian.Uint64(b[:]) ^ mix(uint64(time.Now().UnixNano())))
}

// mix spreads every bit of x over all others (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
