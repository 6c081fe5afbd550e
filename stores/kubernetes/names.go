package kubernetes

import (
	"crypto/sha256"
	"encoding/base32"
	"regexp"
	"strings"
)

// What the store names itself, and so no election: the Lease with the floor of [Store.Prune], and Leases of elections
// whose names Kubernetes does not take.
const (
	floorName    = "tenure-floor"
	digestPrefix = "tenure-x-"
)

// longest is the length of the longest name of a Lease.
const longest = 253

var (
	// subdomain matches the names that Kubernetes takes.
	subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	digits    = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)
)

// leaseName returns the name of the Lease of an election: the election's own if it can be, so that electors of
// client-go find it, else one made of a digest. The annotation holds the full name.
func leaseName(election string) string {
	if plain(election) {
		return election
	}
	sum := sha256.Sum256([]byte(election))
	return digestPrefix + digits.EncodeToString(sum[:])
}

// plain reports whether an election and its Lease have the same name.
func plain(election string) bool {
	return len(election) <= longest && subdomain.MatchString(election) &&
		election != floorName && !strings.HasPrefix(election, digestPrefix)
}
