package storeurl

import (
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	scheme, authority, tail, err := Split("x://u:p@a:1,b:2/c/d?e=%20f")
	if err != nil || scheme != "x" || authority != "u:p@a:1,b:2" || tail.Path != "/c/d" || tail.RawQuery != "e=%20f" {
		t.Errorf("read %q, %q, %v, %v", scheme, authority, tail, err)
	}
	for _, wrong := range []string{"x://u:secret@a#b", "x://u:secret@a/%zz"} {
		if _, _, _, err := Split(wrong); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func TestAuthority(t *testing.T) {
	for text, want := range map[string]struct{ user, password, hosts string }{
		"a":                   {"", "", "a:9"},
		"a:1,b,[::1],[::2]:3": {"", "", "a:1 b:9 [::1]:9 [::2]:3"},
		"u@a":                 {"u", "", "a:9"},
		"u:p%40%3a@a":         {"u", "p@:", "a:9"},
		":p@a":                {"", "p", "a:9"},
		"u:p@ss@a":            {"u", "p@ss", "a:9"},
	} {
		user, hosts, err := Authority(text, "9")
		password, _ := user.Password()
		if err != nil || user.Username() != want.user || password != want.password || !slices.Equal(hosts, strings.Fields(want.hosts)) {
			t.Errorf("%s: %v, %q, %v", text, user, hosts, err)
		}
	}
	for _, wrong := range []string{"", "a,", "a:b", "a:99999", "::1", "[::1", "a b", "u:secret%zz@a"} {
		if _, _, err := Authority(wrong, "9"); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
