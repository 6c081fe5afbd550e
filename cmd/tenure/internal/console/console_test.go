package console

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, url string) (status int, header http.Header) {
	t.Helper()
	w := httptest.NewRecorder()
	Serve(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody))
	return w.Code, w.Header()
}

// TestEveryFileIsServed as what it is, under the policy.
func TestEveryFileIsServed(t *testing.T) {
	files, err := fs.ReadDir(page, "page")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		status, header := get(t, Path+f.Name())
		kind, given := header.Get("Content-Type"), header.Get("Content-Security-Policy")
		if status != http.StatusOK || kind == "" || kind != types[path.Ext(f.Name())] || given != policy {
			t.Errorf("%s: got %d with %q and %q", f.Name(), status, kind, given)
		}
	}
	if status, header := get(t, Path); status != http.StatusOK || header.Get("Content-Type") != types[".html"] {
		t.Errorf("the index: got %d and %v", status, header)
	}
	for _, name := range []string{"missing.js", "../console.go", "%2e%2e/console.go", "page/index.html", "."} {
		if status, _ := get(t, Path+name); status != http.StatusNotFound {
			t.Errorf("%s: got %d", name, status)
		}
	}
}

// TestPolicy: it begins with nothing, and nothing that makes text run is in it.
func TestPolicy(t *testing.T) {
	if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; ") {
		t.Errorf("got %q", policy)
	}
	for _, weak := range []string{"unsafe", "*", "http", "data:", "blob:"} {
		if strings.Contains(policy, weak) {
			t.Errorf("%q has %q", policy, weak)
		}
	}
	for _, needed := range []string{"frame-ancestors 'none'", "require-trusted-types-for 'script'", "form-action 'none'", "base-uri 'none'"} {
		if !strings.Contains(policy, needed) {
			t.Errorf("%q does not have %q", policy, needed)
		}
	}
}

// TestPageNeedsNobodyElse: nothing in it comes from another host, and nothing makes HTML of text.
func TestPageNeedsNobodyElse(t *testing.T) {
	wrong := regexp.MustCompile(`https?://|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|style="|onclick|<script>|<style>`)
	allowed := strings.NewReplacer(`xmlns="http://www.w3.org/2000/svg"`, "")
	err := fs.WalkDir(page, "page", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == "page/icon.svg" {
			return err
		}
		text, err := page.ReadFile(name)
		for i, line := range strings.Split(allowed.Replace(string(text)), "\n") {
			if found := wrong.FindString(line); found != "" {
				t.Errorf("%s:%d has %s", name, i+1, found)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestIsBrowser(t *testing.T) {
	for accept, want := range map[string]bool{
		"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8": true,
		"application/xhtml+xml , text/html;q=0.5":                                    true,
		"":                                   false,
		"*/*":                                false,
		"application/json":                   false,
		"text/html, image/gif, *; q=.2, */*": false, // Java
		"text/html":                          false,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header.Set("Accept", accept)
		if got := IsBrowser(r); got != want {
			t.Errorf("%q: got %v", accept, got)
		}
	}
}
