package natskv

import (
	"encoding/hex"
	"strings"
)

// floorKey holds the floor of [Store.Prune]. No election's key is like it: there "=" is always followed by two
// hexadecimal digits.
const floorKey = "=floor"

// key returns the key of an election. Letters, digits, "-", "_", "/" and single dots within stand for themselves, every
// other byte is written =XX. So names that are keys already stay as they are, for people and for permissions.
func key(election string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(election) {
		c := election[i]
		if plain(c) || c == '.' && separates(election, i) {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'=', digits[c>>4], digits[c&15]})
	}
	return b.String()
}

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '/'
}

// separates reports whether the dot at i stands between two tokens, neither of which is empty.
func separates(name string, i int) bool {
	return i > 0 && i < len(name)-1 && name[i-1] != '.' && name[i+1] != '.'
}

// electionOf returns the election that a key stands for. A key that key would not have made is none.
func electionOf(encoded string) (election string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(encoded); i++ {
		if encoded[i] != '=' {
			b.WriteByte(encoded[i])
			continue
		}
		if len(encoded) < i+3 {
			return "", false
		}
		char, err := hex.DecodeString(encoded[i+1 : i+3])
		if err != nil {
			return "", false
		}
		b.Write(char)
		i += 2
	}
	election = b.String()
	return election, election != "" && key(election) == encoded
}
