// Package console is the page on which people see elections and move them, as "tenure serve" serves it: plain HTML,
// CSS and JavaScript, which load nothing from anywhere else.
//
// The files are the same for everybody and tell nothing. What the page shows it asks of the sidecar, by whose rules of
// access, and with the token if one is needed. Whatever comes from there may have been written by a stranger, so the
// page makes text of it alone, and the policy that it is served with leaves the browser no way to take it for more.
package console

import (
	"embed"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed page
var page embed.FS

// Path is where a page expects to be served.
const Path = "/console/"

// policy lets a page run its own files and talk to where it comes from, and nothing else: no script or style in the
// HTML, no text that becomes HTML, no other page that holds this one in a frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// types are those of the files. The system's table may say something else.
var types = map[string]string{
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// Serve answers with a file of the page, of which [Path] itself is the index.
func Serve(w http.ResponseWriter, r *http.Request) {
	name, _ := strings.CutPrefix(r.URL.Path, Path)
	if name == "" {
		name = "index.html"
	}
	text, err := page.ReadFile(path.Join("page", path.Clean("/"+name)))
	if err != nil {
		http.Error(w, "the console has no file of this name", http.StatusNotFound)
		return
	}
	header := w.Header()
	header.Set("Content-Type", types[path.Ext(name)])
	header.Set("Content-Security-Policy", policy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(text) // a browser that has gone needs no page
}

// IsBrowser reports whether somebody is looking for a page. Browsers ask for both of these by name; programs ask for
// anything at most, and what some libraries send by themselves is HTML alone.
func IsBrowser(r *http.Request) bool {
	var html, xhtml bool
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, _, err := mime.ParseMediaType(part)
		html = html || err == nil && kind == "text/html"
		xhtml = xhtml || err == nil && kind == "application/xhtml+xml"
	}
	return html && xhtml
}
