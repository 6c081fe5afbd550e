package objectstore

import (
	"encoding/hex"
	"strings"

	"github.com/tenure-go/tenure"
)

const (
	electionDir  = "elections/"
	recordSuffix = ".json"
	floorKey     = "floor.json"
	probeKey     = "probe.json"
	absentKey    = "probe-absent.json" // never written by a storage that honours conditions

	// segmentLimit bounds a part of a key between two slashes: storages over file systems allow 255 bytes.
	segmentLimit = 120
)

// recordKey returns the key of an election, below the prefix.
func recordKey(election string) string {
	name := Escape(election)
	var key strings.Builder
	key.WriteString(electionDir)
	for len(name) > segmentLimit {
		key.WriteString(name[:segmentLimit] + "/")
		name = name[segmentLimit:]
	}
	return key.String() + name + recordSuffix
}

// electionOf returns the election that a key below the prefix stands for. A key that recordKey would not have made is
// none.
func electionOf(key string) (election string, ok bool) {
	name, hasDir := strings.CutPrefix(key, electionDir)
	name, hasSuffix := strings.CutSuffix(name, recordSuffix)
	election, ok = unescape(strings.ReplaceAll(name, "/", ""))
	ok = ok && hasDir && hasSuffix && tenure.CheckElection(election) == nil && recordKey(election) == key
	return election, ok
}

// Escape keeps letters, digits, hyphen and underscore, and replaces every other byte by a tilde and its code: nothing
// that a URL, a signature or a file system would have to escape again.
func Escape(name string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			b.Write([]byte{'~', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

func unescape(escaped string) (name string, ok bool) {
	parts := strings.Split(escaped, "~")
	var b strings.Builder
	b.WriteString(parts[0])
	for _, part := range parts[1:] {
		if len(part) < 2 {
			return "", false
		}
		char, err := hex.DecodeString(part[:2])
		if err != nil {
			return "", false
		}
		b.Write(char)
		b.WriteString(part[2:])
	}
	return b.String(), true
}
