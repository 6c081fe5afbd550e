package file

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	// stemLimit bounds an election's part of a file name, so that with everything that is appended to it the name
	// stays under the 255 bytes that file systems allow.
	stemLimit = 96
	// sessionLimit bounds a session's part of a term lock's name.
	sessionLimit = 80
	// cutMark stands in a shortened name between its beginning and its digest. escape never produces it.
	cutMark = "~"
)

// stem returns the election's part of its files' names. Two elections never share one, on file systems that ignore
// case or normalise Unicode either. A name that would get too long ends in its digest; the record file holds the
// whole of it.
func stem(election string) string {
	return shorten(election, escape(election, false), stemLimit)
}

// sessionStem returns the session's part of a term lock's name. Random sessions stay as they are, for people to find:
// what makes the lock's name unique is its nonce.
func sessionStem(session string) string {
	return shorten(session, escape(session, true), sessionLimit)
}

func shorten(name, escaped string, limit int) string {
	if len(escaped) <= limit {
		return escaped
	}
	sum := sha256.Sum256([]byte(name))
	digest := hex.EncodeToString(sum[:])
	return escaped[:limit-len(cutMark)-len(digest)] + cutMark + digest
}

// electionOf returns the election that a stem stands for. A shortened stem, or one that stem would not have made, is
// none.
func electionOf(encoded string) (election string, ok bool) {
	election, ok = unescape(encoded)
	return election, ok && stem(election) == encoded
}

// escape replaces every byte but lower-case letters, digits, hyphen and underscore (and upper-case letters, if they
// may stay) by its hexadecimal code. Dots in particular: they separate the parts of a file name.
func escape(name string, upper bool) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_', upper && c >= 'A' && c <= 'Z':
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

func unescape(escaped string) (name string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(escaped); i++ {
		if escaped[i] != '%' {
			b.WriteByte(escaped[i])
			continue
		}
		if len(escaped) < i+3 {
			return "", false
		}
		char, err := hex.DecodeString(escaped[i+1 : i+3])
		if err != nil {
			return "", false
		}
		b.Write(char)
		i += 2
	}
	return b.String(), true
}
