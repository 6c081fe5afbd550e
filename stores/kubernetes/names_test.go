package kubernetes

import (
	"strings"
	"testing"
)

func TestLeaseName(t *testing.T) {
	for _, plain := range []string{"a", "billing", "billing.example.com", "a-b.c-d", "0", strings.Repeat("a", 253)} {
		if got := leaseName(plain); got != plain {
			t.Errorf("the Lease of %q is %q", plain, got)
		}
	}
	seen := make(map[string]string)
	for _, other := range []string{
		"A", "a ", "-a", "a-", ".a", "a.", "a..b", "a.-b", "a/b", "a_b", "ä", strings.Repeat("a", 254),
		floorName, digestPrefix + "a", leaseName("A"),
	} {
		got := leaseName(other)
		if plain(got) || !subdomain.MatchString(got) || len(got) > longest {
			t.Errorf("the Lease of %q is %q", other, got)
		}
		if before, ok := seen[got]; ok {
			t.Errorf("%q and %q have the same Lease", before, other)
		}
		seen[got] = other
	}
}
