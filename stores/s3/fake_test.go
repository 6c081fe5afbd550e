package s3

import (
	"crypto/md5"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// fake is a server that heeds conditions or ignores them, as some compatible servers do.
type fake struct {
	*httptest.Server
	heeded func(*http.Request) bool

	mu      sync.Mutex
	objects map[string]string
}

// startFake starts one that heeds the conditions of those requests for which heeded is true.
func startFake(t *testing.T, heeded func(*http.Request) bool) *fake {
	t.Helper()
	f := &fake{heeded: heeded, objects: map[string]string{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fake) keys() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.objects))
}

func tag(body string) string { return fmt.Sprintf(`"%x"`, md5.Sum([]byte(body))) }

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	current, exists := f.objects[r.URL.Path]
	switch {
	case f.heeded(r) && f.refuses(r, current, exists):
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
	case r.Method == http.MethodPut:
		f.objects[r.URL.Path] = string(body)
		w.Header().Set("ETag", tag(string(body)))
	case !exists:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("ETag", tag(current))
		io.WriteString(w, current)
	}
}

func (*fake) refuses(r *http.Request, current string, exists bool) bool {
	match, noneMatch := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	return match != "" && (!exists || match != tag(current)) || noneMatch == "*" && exists
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	io.WriteString(w, failure(code))
}
