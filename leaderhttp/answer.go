package leaderhttp

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/tenure-go/tenure"
)

// leader is the one that a request is for, and the way that the request has come.
type leader struct {
	record tenure.Record
	hop    hop
}

// answer is what becomes of a request that is for another leader.
type answer interface {
	check() error
	answer(g *Gate, w http.ResponseWriter, r *http.Request, to leader)
}

// refuse is the answer without options: 503.
type refuse struct{}

func (refuse) check() error { return nil }

func (refuse) answer(g *Gate, w http.ResponseWriter, _ *http.Request, _ leader) {
	g.unavailable(w, "this server does not lead")
}

// misdirect answers 421.
type misdirect struct{}

func (misdirect) check() error { return nil }

func (misdirect) answer(_ *Gate, w http.ResponseWriter, _ *http.Request, _ leader) {
	http.Error(w, "this server does not lead", http.StatusMisdirectedRequest)
}

// redirect answers 307 or 308.
type redirect struct{ code int }

func (a redirect) check() error {
	if a.code != http.StatusTemporaryRedirect && a.code != http.StatusPermanentRedirect {
		return fmt.Errorf("%w: a redirect with code %d would lose method or body; use 307 or 308", tenure.ErrConfig, a.code)
	}
	return nil
}

func (a redirect) answer(g *Gate, w http.ResponseWriter, r *http.Request, to leader) {
	base, ok := g.find(w, r, to.record)
	if !ok {
		return
	}
	path := strings.TrimSuffix(base.EscapedPath(), "/") + r.URL.EscapedPath()
	location := base.Scheme + "://" + base.Host + path + "?" + to.hop.next(to.record.Token).query(r.URL.RawQuery)
	http.Redirect(w, r, location, a.code)
}

// find returns the leader's URL; if it has none that this request can be sent to, it answers 503.
func (g *Gate) find(w http.ResponseWriter, r *http.Request, record tenure.Record) (*url.URL, bool) {
	if !strings.HasPrefix(r.URL.Path, "/") || r.Method == http.MethodConnect {
		g.unavailable(w, "this server does not lead, and a request for no path cannot be sent on")
		return nil, false
	}
	base, err := g.urlOf(record)
	if err != nil {
		g.logger.Warn("the leader's address is of no use", "election", g.candidate.Election(), "leader", record.Leader,
			"address", record.Address, "error", err)
		g.unavailable(w, "this server does not lead, and the leader has no address")
		return nil, false
	}
	return base, true
}

func (g *Gate) urlOf(record tenure.Record) (*url.URL, error) {
	if g.leaderURL == nil {
		return parseAddress(record.Address, g.scheme)
	}
	base, err := g.leaderURL(record)
	if err == nil {
		err = checkURL(base)
	}
	return base, err
}
