package sidecar

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/tenure-go/tenure/cmd/tenure/internal/console"
)

// guard refuses what no client of ours sends, but a web page in somebody's browser may.
func (s *Sidecar) guard(next http.Handler) http.Handler {
	crossSite := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		switch {
		case !s.isOurs(r.Host):
			refuse(w, http.StatusMisdirectedRequest, "this sidecar is not known as %q", r.Host)
		case crossSite.Check(r) != nil, fromElsewhere(r) && !opensConsole(r):
			refuse(w, http.StatusForbidden, "requests of other sites' pages are refused")
		case r.Method != http.MethodGet && r.Method != http.MethodHead && !isJSON(r):
			refuse(w, http.StatusUnsupportedMediaType, "what changes state has to come with Content-Type: application/json")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// fromElsewhere reports whether a browser says that another site's page asks. It reads no answer, but can hold streams.
func fromElsewhere(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}

// opensConsole reports whether somebody follows a link to the console, from a wiki perhaps. No page can read or frame
// what is opened so, and the console itself says nothing.
func opensConsole(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document" &&
		(r.URL.Path == console.Path || r.URL.Path == "/" && console.IsBrowser(r))
}

// isJSON: a browser sends this type to another site only if that site has agreed, which this one never does.
func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

// isOurs reports whether a request's Host means this sidecar. A page whose name was made to resolve to this host
// (DNS rebinding) gives its own name away here. An address in place of a name cannot have been rebound.
func (s *Sidecar) isOurs(host string) bool {
	if s.options.Address.network == "unix" {
		return true // browsers do not reach it
	}
	name := strings.ToLower(hostname(host))
	if slices.ContainsFunc(s.options.Hosts, func(h string) bool { return strings.EqualFold(h, name) }) {
		return true
	}
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.Unmap().IsLoopback() || !s.options.Address.local
	}
	return name == "localhost" || name == strings.ToLower(s.options.Address.host())
}

// hostname cuts the port off.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// known reports whether the client has proved who it is, where it has to.
func (s *Sidecar) known(w http.ResponseWriter, r *http.Request) bool {
	if s.options.Token == "" {
		return true // TLS has asked for a certificate, or only this host can reach us
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given := hash(token)
	if strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(given[:], s.key[:]) == 1 {
		return true
	}
	s.log.Warn("a request without the token was refused", "client", s.who(r, ""), "method", r.Method, "path", r.URL.Path)
	w.Header().Set("WWW-Authenticate", `Bearer realm="tenure"`)
	refuse(w, http.StatusUnauthorized, "send the token: Authorization: Bearer TOKEN")
	return false
}

func hash(token string) [32]byte { return sha256.Sum256([]byte(token)) }
