package sidecar

import (
	"net/http"
	"slices"
	"strings"
)

// answered answers in the form of all errors what the multiplexer would answer in plain text: paths that there are not,
// and methods that they do not have.
func answered(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		if methods := strings.Join(methodsOf(mux, r), ", "); methods != "" {
			w.Header().Set("Allow", methods)
			refuse(w, http.StatusMethodNotAllowed, "%q takes %s, not %s", r.URL.Path, methods, r.Method)
			return
		}
		refuse(w, http.StatusNotFound, "there is no %q; there are %s, which /openapi.json describes", r.URL.Path,
			strings.Join(paths(), ", "))
	})
}

// methodsOf are those with which a path can be asked.
func methodsOf(mux *http.ServeMux, r *http.Request) []string {
	return slices.DeleteFunc([]string{http.MethodGet, http.MethodHead, http.MethodPost}, func(method string) bool {
		other := *r
		other.Method = method
		_, pattern := mux.Handler(&other)
		return pattern == ""
	})
}

// paths are those of all routes, as the description has them.
func paths() (all []string) {
	for _, route := range routes {
		all = append(all, strings.TrimSuffix(route.path, "{$}"))
	}
	return slices.Compact(all)
}
