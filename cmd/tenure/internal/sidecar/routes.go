package sidecar

import (
	_ "embed"
	"net/http"

	"github.com/tenure-go/tenure/cmd/tenure/internal/console"
)

//go:embed openapi.json
var description []byte

// route is one operation. The table is what the OpenAPI description is checked against.
type route struct {
	method, path string
	serve        func(s *Sidecar, w http.ResponseWriter, r *http.Request)
	open         bool // answered to everybody, with nothing that is not public
}

var routes = []route{
	{"GET", "/{$}", (*Sidecar).name, false},
	{"GET", "/leader", (*Sidecar).name, false},
	{"GET", "/healthz", (*Sidecar).healthy, true},
	{"GET", "/openapi.json", (*Sidecar).describe, true},
	{"GET", console.Path, (*Sidecar).console, true},
	{"GET", "/v1/events", (*Sidecar).overview, false},
	{"GET", "/v1/elections", (*Sidecar).list, false},
	{"GET", "/v1/elections/{name}", of((*Sidecar).show), false},
	{"GET", "/v1/elections/{name}/events", of((*Sidecar).watch), false},
	{"POST", "/v1/elections/{name}/campaign", of((*Sidecar).campaign), false},
	{"POST", "/v1/elections/{name}/campaigns/{campaign}/confirm", of((*Sidecar).confirm), false},
	{"POST", "/v1/elections/{name}/campaigns/{campaign}/resign", of((*Sidecar).resignCampaign), false},
	{"POST", "/v1/elections/{name}/resign", of((*Sidecar).resign), false},
	{"POST", "/v1/elections/{name}/transfer", of((*Sidecar).transfer), false},
	{"POST", "/v1/elections/{name}/pause", of((*Sidecar).pause), false},
	{"POST", "/v1/elections/{name}/resume", of((*Sidecar).resume), false},
}

// of finds the election that a path names.
func of(
	serve func(*Sidecar, http.ResponseWriter, *http.Request, *election),
) func(*Sidecar, http.ResponseWriter, *http.Request) {
	return func(s *Sidecar, w http.ResponseWriter, r *http.Request) {
		e, ok := s.elections[r.PathValue("name")]
		if !ok {
			refuse(w, http.StatusNotFound, "this sidecar does not serve the election %q", r.PathValue("name"))
			return
		}
		serve(s, w, r, e)
	}
}

func (s *Sidecar) handler() http.Handler {
	mux := http.NewServeMux()
	for _, route := range routes {
		mux.HandleFunc(route.method+" "+route.path, func(w http.ResponseWriter, r *http.Request) {
			if route.open || s.known(w, r) {
				route.serve(s, w, r)
			}
		})
	}
	return s.guard(leadBrowsers(answered(mux)))
}

// leadBrowsers leads people to the console from where programs are told a name.
func leadBrowsers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Vary", "Accept")
		if r.Method == http.MethodGet && console.IsBrowser(r) {
			http.Redirect(w, r, console.Path, http.StatusFound)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Sidecar) console(w http.ResponseWriter, r *http.Request) { console.Serve(w, r) }

// name answers in the one-line form of the leader-elector sidecar of Kubernetes.
func (s *Sidecar) name(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("election")
	if name == "" && len(s.names) == 1 {
		name = s.names[0]
	}
	e, ok := s.elections[name]
	switch {
	case name == "":
		refuse(w, http.StatusBadRequest, "this sidecar serves several elections: say which, ?election=NAME")
		return
	case !ok:
		refuse(w, http.StatusNotFound, "this sidecar does not serve the election %q", name)
		return
	}
	leader, seen := s.leader(e)
	if !seen {
		unavailable(w, "the store was not reached yet")
		return
	}
	reply(w, http.StatusOK, struct {
		Name string `json:"name"`
	}{leader})
}

func (s *Sidecar) healthy(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, struct {
		Status string `json:"status"`
	}{"serving"})
}

func (s *Sidecar) describe(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(description)
}

func (s *Sidecar) list(w http.ResponseWriter, _ *http.Request) {
	views := make([]view, 0, len(s.names))
	for _, name := range s.names {
		views = append(views, s.view(s.elections[name]))
	}
	reply(w, http.StatusOK, views)
}

func (s *Sidecar) show(w http.ResponseWriter, _ *http.Request, e *election) {
	reply(w, http.StatusOK, s.view(e))
}
