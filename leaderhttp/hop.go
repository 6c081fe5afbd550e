package leaderhttp

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/tenure-go/tenure/internal/guard"
)

// HeaderHop is the header in which a [Gate] notes, as election:token, the term for which it passed a request on. The
// name is percent-encoded. There may be several, separated by commas, if gates of several elections are passed.
const HeaderHop = "Tenure-Hop"

// queryHop is the query parameter that carries the same through a redirect.
const queryHop = "tenure-hop"

// hop is how a request was sent on before, on behalf of one election: the highest token noted, zero if it was not.
type hop struct {
	election string
	token    uint64
}

// next is the hop of a request that is sent on for a term.
func (h hop) next(token uint64) hop { return hop{h.election, token} }

// String returns the note, for a header and a query alike.
func (h hop) String() string { return fmt.Sprintf("%s:%d", guard.EncodeName(h.election), h.token) }

// hopOf reads all notes of a request, wherever they stand, for those of one election.
func hopOf(r *http.Request, election string) (hop, error) {
	h := hop{election: election}
	for _, note := range hopNotes(r) {
		noted, err := parseHop(note)
		if err != nil {
			return hop{}, err
		}
		if noted.election == election {
			h.token = max(h.token, noted.token)
		}
	}
	return h, nil
}

func hopNotes(r *http.Request) []string {
	notes := headerNotes(r.Header)
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if value, found := strings.CutPrefix(part, queryHop+"="); found {
			note, err := url.PathUnescape(value) // undoes the query's encoding; the name has one of its own
			if err != nil {
				note = "" // which is refused
			}
			notes = append(notes, note)
		}
	}
	return notes
}

func headerNotes(h http.Header) []string {
	var notes []string
	for _, line := range h.Values(HeaderHop) {
		for note := range strings.SplitSeq(line, ",") {
			notes = append(notes, strings.TrimSpace(note))
		}
	}
	return notes
}

func parseHop(note string) (hop, error) {
	name, number, _ := strings.Cut(note, ":")
	election, err := guard.DecodeName(name)
	if err != nil {
		return hop{}, fmt.Errorf("%s is malformed: %w", HeaderHop, err)
	}
	token, err := guard.ParseToken(number)
	if err != nil {
		return hop{}, fmt.Errorf("%s is malformed: %w", HeaderHop, err)
	}
	return hop{election, token}, nil
}

// strip returns the request without the notes of the election, so that handlers see what the client sent. Gates of
// other elections further in still find theirs.
func (h hop) strip(r *http.Request) *http.Request {
	out := r.WithContext(r.Context())
	out.Header = r.Header.Clone()
	h.setHeader(out.Header, "")
	u := *r.URL
	u.RawQuery = h.without(u.RawQuery)
	out.URL = &u
	return out
}

// setHeader replaces the notes of the election by one, or by none if it is empty.
func (h hop) setHeader(header http.Header, note string) {
	notes := headerNotes(header)
	header.Del(HeaderHop)
	for _, n := range notes {
		if noted, err := parseHop(n); err != nil || noted.election != h.election {
			header.Add(HeaderHop, n)
		}
	}
	if note != "" {
		header.Add(HeaderHop, note)
	}
}

// query returns a query with the note in place of earlier ones of the election.
func (h hop) query(raw string) string {
	note := queryHop + "=" + url.QueryEscape(h.String())
	if rest := h.without(raw); rest != "" {
		return rest + "&" + note
	}
	return note
}

// without returns a query without the notes of the election, and otherwise byte for byte.
func (h hop) without(raw string) string {
	var kept []string
	for part := range strings.SplitSeq(raw, "&") {
		if value, found := strings.CutPrefix(part, queryHop+"="); found {
			note, err := url.PathUnescape(value)
			if noted, bad := parseHop(note); err == nil && bad == nil && noted.election == h.election {
				continue
			}
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, "&")
}
