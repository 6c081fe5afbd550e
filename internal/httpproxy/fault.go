package httpproxy

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault is one thing that goes wrong with requests: with all of them until it is healed, if On and Times do not narrow
// it.
type Fault struct {
	act   func(in *Injection, w http.ResponseWriter, r *http.Request)
	match []func(*http.Request) bool
	times int // zero: any number
}

// On returns the fault for requests of a method whose path contains text; empty ones mean any.
func (f Fault) On(method, text string) Fault {
	return f.When(func(r *http.Request) bool {
		return (method == "" || r.Method == method) && strings.Contains(r.URL.Path, text)
	})
}

// When returns the fault for requests for which match is true.
func (f Fault) When(match func(*http.Request) bool) Fault {
	f.match = append(slices.Clone(f.match), match)
	return f
}

// Times returns the fault for the next n requests only, at least one.
func (f Fault) Times(n int) Fault {
	f.times = max(n, 1)
	return f
}

func (f Fault) matches(r *http.Request) bool {
	for _, match := range f.match {
		if !match(r) {
			return false
		}
	}
	return true
}

// LoseReply lets requests through to the server and cuts the client's connection once it has answered: the client
// cannot know what became of them.
func LoseReply() Fault {
	return Fault{act: func(in *Injection, _ http.ResponseWriter, r *http.Request) {
		in.proxy.forward.ServeHTTP(discard{}, r)
		panic(http.ErrAbortHandler)
	}}
}

// LoseRequest cuts the client's connection without the server seeing anything.
func LoseRequest() Fault {
	return Fault{act: func(*Injection, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}
}

// Answer answers in the server's place, which sees nothing.
func Answer(status int, header http.Header, body string) Fault {
	return Fault{act: func(_ *Injection, w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		reply(w, status, header, body)
	}}
}

// Misreport lets requests through to the server and answers something else than it did.
func Misreport(status int, header http.Header, body string) Fault {
	return Fault{act: func(in *Injection, w http.ResponseWriter, r *http.Request) {
		in.proxy.forward.ServeHTTP(discard{}, r)
		reply(w, status, header, body)
	}}
}

// Throttle answers with a status that asks to come again after a time of whole seconds, and a body.
func Throttle(status int, after time.Duration, body string) Fault {
	seconds := int(after / time.Second)
	return Answer(status, http.Header{"Retry-After": {strconv.Itoa(seconds)}}, body)
}

// Strip lets requests through without some of their headers, as a server that ignores them would see them.
func Strip(headers ...string) Fault {
	return Fault{act: func(in *Injection, w http.ResponseWriter, r *http.Request) {
		for _, name := range headers {
			r.Header.Del(name)
		}
		in.proxy.forward.ServeHTTP(w, r)
	}}
}

// Repeat sends requests to the server twice, as a client or a gateway does that has not heard an answer, and passes the
// second answer on.
func Repeat() Fault {
	return Fault{act: func(in *Injection, w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		for _, to := range []http.ResponseWriter{discard{}, w} {
			again := r.Clone(r.Context())
			again.Body = io.NopCloser(strings.NewReader(string(body)))
			in.proxy.forward.ServeHTTP(to, again)
		}
	}}
}

// Hang keeps requests from the server and from an answer until their client gives up or the fault is healed. Then
// it cuts their connections.
func Hang() Fault {
	return Fault{act: func(in *Injection, _ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // before that the end of the connection is not noticed
		select {
		case <-r.Context().Done():
		case <-in.healed:
		}
		panic(http.ErrAbortHandler)
	}}
}

func reply(w http.ResponseWriter, status int, header http.Header, body string) {
	maps.Copy(w.Header(), header)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// discard is where an answer goes that nobody hears.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
