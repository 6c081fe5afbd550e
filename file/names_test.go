package file

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// awkward are names that some file system would change, refuse or take for each other.
var awkward = []string{
	"billing", "Billing", "BILLING", "a/b/c", "a\\b", ".", "..", "...", ".hidden", "a.b", "a.json", "a.lock", "a.tmp", "-rf",
	"~", "~root", "%2f", "%", "con", "NUL", "a:b", "a b", " ", "a*?<>|\"", "é", "e\u0301", "ß", "SS", "日本語", "🔒", "İ", "ı", "K", "\u212a",
	strings.Repeat("x", 255), strings.Repeat("x", 254) + "y", strings.Repeat("X", 255), strings.Repeat("日", 85),
	strings.Repeat("x", stemLimit), strings.Repeat("x", stemLimit+1),
}

func TestStemsTellNamesApart(t *testing.T) {
	seen := make(map[string]string)
	for _, name := range awkward {
		encoded := stem(name)
		// The nearest that a file system comes to taking two names for one.
		folded := strings.ToUpper(encoded)
		if other, ok := seen[folded]; ok {
			t.Errorf("%q and %q share the stem %q", name, other, encoded)
		}
		seen[folded] = name
		if len(encoded) > stemLimit {
			t.Errorf("stem of %q has %d bytes, more than %d", name, len(encoded), stemLimit)
		}
		if i := strings.IndexFunc(encoded, isUnfit); i >= 0 {
			t.Errorf("stem %q of %q has an unfit character at %d", encoded, name, i)
		}
	}
}

func isUnfit(c rune) bool {
	return c > unicode.MaxASCII || unicode.IsUpper(c) || strings.ContainsRune("./\\:*?<>|\"' ", c)
}

func TestStemsAreReversible(t *testing.T) {
	names := awkward
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		names = append(names, randomName(random))
	}
	for _, name := range names {
		encoded := stem(name)
		if strings.Contains(encoded, cutMark) {
			continue
		}
		if got, ok := electionOf(encoded); !ok || got != name {
			t.Errorf("stem %q of %q is read as %q, %v", encoded, name, got, ok)
		}
	}
	for _, foreign := range []string{"", "A", "a.b", "%", "%4", "%zz", "%61", "%2F", "a~b", "é"} {
		if got, ok := electionOf(foreign); ok && foreign != "" {
			t.Errorf("%q is no stem, but is read as %q", foreign, got)
		}
	}
}

func randomName(random *rand.Rand) string {
	var b strings.Builder
	for range 1 + random.IntN(20) {
		c := rune(random.IntN(0x3000))
		if utf8.ValidRune(c) {
			b.WriteRune(c)
		}
	}
	return b.String() + "x"
}
