package memcached

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
)

// keyLimit is the longest key that memcached takes.
const keyLimit = 250

// key returns the key of an election. Two elections never share one: escaping is reversible, and what would get too
// long ends in a digest behind a mark that escaping never makes.
func (c config) key(election string) string {
	const mark = "*"
	key := c.prefix + url.PathEscape(election)
	if len(key) <= keyLimit {
		return key
	}
	sum := sha256.Sum256([]byte(election))
	digest := hex.EncodeToString(sum[:])
	return key[:keyLimit-len(mark)-len(digest)] + mark + digest
}
