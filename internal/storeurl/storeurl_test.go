package storeurl

import (
	"maps"
	"strings"
	"testing"
)

func TestParameters(t *testing.T) {
	got, err := Parameters("b=x%26y&a=true", "a", "b", "c")
	if want := map[string]string{"a": "true", "b": "x&y"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("read %q, %v", got, err)
	}
	for query, want := range map[string]string{
		"secret=1":          `"secret"`,
		"a=secret&a=secret": "repeated",
		"a":                 "empty",
		"a=":                "empty",
		"a=secret;b":        "percent-encode",
		"a=secret%zz":       "percent-encode",
		"z=1&y=1":           `"y" of the URL; known: a, b`,
	} {
		_, err := Parameters(query, "a", "b")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(strings.ReplaceAll(err.Error(), `"secret"`, ""), "secret") {
			t.Errorf("%s: %v, want %q", query, err, want)
		}
	}
}

func TestBool(t *testing.T) {
	for text, want := range map[string]bool{"true": true, "1": true, "false": false} {
		if got, err := Bool(map[string]string{"a": text}, "a"); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if got, err := Bool(nil, "a"); err != nil || got {
		t.Errorf("without one: %v, %v", got, err)
	}
	if _, err := Bool(map[string]string{"a": "maybe"}, "a"); err == nil || !strings.Contains(err.Error(), `a "maybe"`) {
		t.Errorf("maybe: %v", err)
	}
}

func TestPrefix(t *testing.T) {
	for path, want := range map[string]string{"": "d/", "/": "d/", "/p": "p/", "/p/q/": "p/q/", "//p": "p/"} {
		if got := Prefix(path, "d/"); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
