package sidecar

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/console"
)

// overviewLine is a client's end of the stream of all elections.
type overviewLine struct {
	t       *testing.T
	decoder *json.Decoder
	first   overviewFirst
}

func (d *desk) overview() *overviewLine {
	d.t.Helper()
	response, err := d.client.Do(d.request(http.MethodGet, "/v1/events", "", lines))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { response.Body.Close() })
	l := &overviewLine{t: d.t, decoder: json.NewDecoder(response.Body)}
	if err := l.decoder.Decode(&l.first); err != nil || response.StatusCode != http.StatusOK {
		d.t.Fatalf("%s: %v", response.Status, err)
	}
	return l
}

// await reads events until one about the election fits.
func (l *overviewLine) await(what, election string, fits func(overviewEvent) bool) overviewEvent {
	l.t.Helper()
	var e overviewEvent
	for end := time.Now().Add(patience); time.Now().Before(end); {
		e = overviewEvent{}
		if err := l.decoder.Decode(&e); err != nil {
			l.t.Fatal(err)
		}
		if e.Election == election && fits(e) {
			return e
		}
	}
	l.t.Fatalf("%s is not: %s; the last event is %+v", election, what, e)
	return e
}

func kinds(changes []pastChange) (kinds []string) {
	for _, c := range changes {
		kinds = append(kinds, c.Change)
	}
	return kinds
}

func TestOverview(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(o *Options) { o.Heartbeat = 50 * time.Millisecond })
	l := d.overview()
	if l.first.Event != "sidecar" || l.first.ID != "side" || !slices.Equal(l.first.Elections, []string{"own", "open"}) || l.first.Beat != 50 {
		t.Errorf("it begins with %+v", l.first)
	}
	e := l.await("first", "own", func(overviewEvent) bool { return true })
	if e.Event != "first" || e.OwnTTL != 2000 || e.OwnDrain != 200 || len(e.Candidates) != 1 {
		t.Errorf("got %+v", e)
	}
	e = l.await("led", "own", func(e overviewEvent) bool { return e.Leader == "side" })
	if e.Event != "now" || e.Token != 1 || e.State != "held" || e.Address != "here:80" {
		t.Errorf("got %+v", e)
	}
	// Renewals are told of without a change.
	before := e.Unchanged
	e = l.await("renewed", "own", func(e overviewEvent) bool { return e.Unchanged > before })
	before = e.Unchanged
	e = l.await("renewed again", "own", func(e overviewEvent) bool { return e.Unchanged < before })
	if len(e.Changes) != 0 || e.Candidates[0].SafetyMargin <= 0 {
		t.Errorf("got %+v", e)
	}
	d.must("/v1/elections/own/transfer", `{"to": "b", "by": "ann"}`)
	asked := l.await("asked", "own", func(e overviewEvent) bool { return len(e.Actions) > 0 }).Actions[0]
	if asked.Action != "transfer" || asked.To != "b" || !strings.HasPrefix(asked.By, "ann (127.0.0.1:") || asked.Leader != "side" ||
		asked.Token != 1 || asked.Error != "" {
		t.Errorf("got %+v", asked)
	}
	if !d.log.HasLine("action=transfer", "election=own", "to=b", `by="ann (127.0.0.1:`) {
		t.Error("the log has no audit line")
	}
	l.await("released", "own", func(e overviewEvent) bool { return e.Reserved == "b" && e.Leader == "" && e.Unchanged == 0 })
}

// TestOverviewHasThePast: who looks later sees what has happened, what was refused, and only once.
func TestOverviewHasThePast(t *testing.T) {
	t.Parallel()
	d := newDesk(t, long)
	d.await("open", "seen", func(v view) bool { return v.State == "missing" })
	d.must("/v1/elections/open/pause", `{"reason": "moving house", "by": "ann"}`)
	d.await("open", "paused", func(v view) bool { return v.State == "paused" }) // an observer may miss what is short
	d.must("/v1/elections/open/resume", `{"by": "bob"}`)
	d.await("open", "resumed", func(v view) bool { return v.State == "vacant" })
	if status, _ := d.post("/v1/elections/open/resign", `{"by": "eve"}`); status != http.StatusConflict {
		t.Fatalf("got %d", status)
	}
	a := d.campaign(`{"id": "a"}`)
	a.await("elected")
	d.await("open", "led", func(v view) bool { return v.Leader == "a" })
	l := d.overview()
	e := l.await("first", "open", func(overviewEvent) bool { return true })
	if got, want := kinds(e.Changes), []string{"first", "paused", "resumed", "elected"}; !slices.Equal(got, want) {
		t.Errorf("changed %q, want %q", got, want)
	}
	var did []string
	for _, action := range e.Actions {
		by, _, _ := strings.Cut(action.By, " ")
		did = append(did, by+" "+action.Action+" "+action.Reason)
	}
	if want := []string{"ann pause moving house", "bob resume ", "eve resign "}; !slices.Equal(did, want) {
		t.Errorf("asked were %q, want %q", did, want)
	}
	if last := e.Actions[2]; !strings.Contains(last.Error, `nobody leads "open"`) {
		t.Errorf("got %+v", last)
	}
	e = l.await("again", "open", func(overviewEvent) bool { return true })
	if e.Event != "now" || len(e.Changes)+len(e.Actions) != 0 {
		t.Errorf("got %+v a second time", e)
	}
}

// TestOverviewWaitsForNoBeat: what happens is told when it does. Ten changes that each waited for a beat would take
// nine beats at least.
func TestOverviewWaitsForNoBeat(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	l := d.overview()
	l.await("first", "open", func(e overviewEvent) bool { return e.State == "missing" })
	began := time.Now()
	for range 5 {
		d.must("/v1/elections/open/pause", "")
		l.await("paused", "open", func(e overviewEvent) bool { return e.Pause != nil })
		d.must("/v1/elections/open/resume", "")
		l.await("resumed", "open", func(e overviewEvent) bool { return e.Pause == nil })
	}
	if took := time.Since(began); took >= 9*overviewBeat {
		t.Errorf("ten changes were told in %v", took)
	}
}

// TestHistoryIsBounded, the newest kept.
func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	var h history
	for i := range 3 * maxChanges {
		h.addChange(pastChange{Token: uint64(i)})
		h.addAction(pastAction{Token: uint64(i)})
	}
	changes, actions := h.after(0)
	if len(changes) != maxChanges || len(actions) != maxActions {
		t.Errorf("kept are %d and %d", len(changes), len(actions))
	}
	if last := uint64(3*maxChanges - 1); changes[maxChanges-1].Token != last || actions[maxActions-1].Token != last {
		t.Errorf("the last are %+v and %+v", changes[maxChanges-1], actions[maxActions-1])
	}
	if changes, actions = h.after(h.last - 2); len(changes) != 1 || len(actions) != 1 {
		t.Errorf("new are %d and %d", len(changes), len(actions))
	}
}

// TestHistoryOfAFailure: it has a beginning and an end, and nobody is said to be silent whom nobody could hear.
func TestHistoryOfAFailure(t *testing.T) {
	t.Parallel()
	e := (&Sidecar{options: Options{Describe: describe}}).newElection(Election{Name: "x"}, nil)
	held := tenure.Change{Exists: true, Record: tenure.Record{Leader: "a", Session: "s", Token: 1}}
	of := func(kind tenure.ChangeKind) tenure.Change {
		held.Kind, held.Silent = kind, kind == tenure.ChangeSilent
		return held
	}
	broken := errors.New("out of order")
	for range 2 {
		e.take(of(tenure.ChangeElected), nil)
		e.take(of(tenure.ChangeRenewed), nil)
		e.take(held, broken)
		e.take(held, broken)
		e.take(of(tenure.ChangeSilent), nil)
		if _, _, _, err := e.look(); err == nil {
			t.Error("the failure is forgotten, though nobody has looked")
		}
		e.take(held, broken)
		e.take(of(tenure.ChangeReturned), nil)
		e.take(of(tenure.ChangeRenewed), nil)
	}
	e.take(held, broken)
	e.take(of(tenure.ChangeRenewed), nil)
	e.take(of(tenure.ChangeSilent), nil)
	changes, _ := e.history.after(0)
	want := []string{
		"elected", "store-failed", "regained", "elected", "store-failed", "regained", "store-failed", "regained", "silent",
	}
	if got := kinds(changes); !slices.Equal(got, want) {
		t.Errorf("kept is %q, want %q", got, want)
	}
}

// TestOverviewDisownsNothing: who merely looks on does not make others wait for longer if the sidecar dies.
func TestOverviewDisownsNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	l := d.overview()
	l.await("led", "own", func(e overviewEvent) bool { return e.Candidates[0].State == "leader" && e.Leader == "side" })
	e := d.sidecar.elections["own"]
	e.disowning.Lock()
	defer e.disowning.Unlock()
	if e.disowned != 0 {
		t.Errorf("the term %d is disowned", e.disowned)
	}
}

func TestOnlookersAreForgotten(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	response, err := d.client.Do(d.request(http.MethodGet, "/v1/events", "", nil))
	if err != nil {
		t.Fatal(err)
	}
	if kind := response.Header.Get("Content-Type"); kind != typeEvents {
		t.Errorf("the type is %q", kind)
	}
	text := make([]byte, 7)
	if _, err := io.ReadFull(response.Body, text); err != nil || string(text) != "event: " {
		t.Errorf("got %q and %v", text, err)
	}
	_ = response.Body.Close()
	left := func() int {
		e := d.sidecar.elections["open"]
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.onlookers) + len(d.sidecar.streams)
	}
	for end := time.Now().Add(patience); left() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d are left", left())
		}
	}
}

// TestBrowsersAreLedToTheConsole, and programs are told a name as ever.
func TestBrowsersAreLedToTheConsole(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(o *Options) { o.Elections, o.Token = o.Elections[:1], "correct horse battery" })
	d.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ask := func(method, path string, header map[string]string) (status int, location string) {
		response, err := d.client.Do(d.request(method, path, "", func(r *http.Request) {
			for key, value := range header {
				r.Header.Set(key, value)
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode, response.Header.Get("Location")
	}
	const page = "text/html,application/xhtml+xml,*/*;q=0.8"
	browser := map[string]string{"Accept": page}
	if status, location := ask("GET", "/", browser); status != http.StatusFound || location != console.Path {
		t.Errorf("a browser gets %d to %q", status, location)
	}
	if status, _ := ask("GET", "/", map[string]string{"Accept": "text/html, */*"}); status != http.StatusUnauthorized {
		t.Errorf("a program gets %d", status)
	}
	link := map[string]string{
		"Accept": page, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
	}
	for path, want := range map[string]int{
		"/": http.StatusFound, console.Path: http.StatusOK, console.Path + "console.js": http.StatusForbidden,
		"/v1/elections": http.StatusForbidden, "/openapi.json": http.StatusForbidden,
	} {
		if status, _ := ask("GET", path, link); status != want {
			t.Errorf("a link from elsewhere to %s: %d", path, status)
		}
	}
	for key, value := range map[string]string{"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "iframe"} {
		wrong := maps.Clone(link)
		wrong[key] = value
		if status, _ := ask("GET", console.Path, wrong); status != http.StatusForbidden {
			t.Errorf("%s %s: %d", key, value, status)
		}
	}
	if status, _ := ask("POST", console.Path, link); status != http.StatusForbidden {
		t.Errorf("a form from elsewhere: %d", status)
	}
}
