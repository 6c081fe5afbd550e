package sidecar

import (
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// long has leases that no step of a test waits for.
func long(o *Options) {
	for i := range o.Elections {
		o.Elections[i].TTL, o.Elections[i].Drain = time.Minute, 10*time.Second
	}
	o.Heartbeat = 50 * time.Millisecond
}

func TestCampaignLeads(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	a := d.campaign(`{"id": "a", "address": "10.0.0.7:80", "metadata": {"zone": "b"}}`)
	if a.first.Campaign == "" || a.first.Leading || a.first.TTL != 2000 || a.first.Drain != 200 {
		t.Errorf("it began with %+v", a.first)
	}
	elected := a.await("elected")
	if elected.ID != "a" || elected.Token != 1 || !elected.Leading || elected.Campaign != "" {
		t.Errorf("got %+v", elected)
	}
	if elected.Milliseconds <= 0 || elected.Milliseconds > 1780 { // 0.99·2000 - 200
		t.Errorf("trusted for %d ms", elected.Milliseconds)
	}
	if off := elected.Until.Sub(elected.At).Milliseconds() - elected.Milliseconds; off < -1000 || off > 2 {
		t.Errorf("trusted until %v, %d ms at %v", elected.Until, elected.Milliseconds, elected.At)
	}
	if renewed := a.await("renewed"); renewed.Token != 1 || !renewed.Until.After(elected.Until) {
		t.Errorf("got %+v after %+v", renewed, elected)
	}
	if beat := a.await("heartbeat"); !beat.Leading || beat.Milliseconds <= 0 {
		t.Errorf("got %+v", beat)
	}
	r := d.record("open")
	if r.Leader != "a" || r.Address != "10.0.0.7:80" || r.Metadata["zone"] != "b" {
		t.Errorf("got the record %+v", r)
	}
	v := d.await("open", "led", func(v view) bool { return v.Leader == "a" })
	if v.Leading || v.Milliseconds != 0 || len(v.Candidates) != 1 || v.Candidates[0].State != "leader" {
		t.Errorf("got %+v", v)
	}
}

// TestCampaignsAreCandidatesOfTheirOwn, even under one ID.
func TestCampaignsAreCandidatesOfTheirOwn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	a := d.campaign(`{"id": "a"}`)
	a.await("elected")
	d.await("open", "led", func(v view) bool { return v.Leader == "a" })
	b := d.campaign(`{"id": "a"}`)
	if b.first.Leader != "a" || b.first.Campaign == a.first.Campaign {
		t.Errorf("got %+v after %+v", b.first, a.first)
	}
	d.must("/v1/elections/open/campaigns/"+a.first.Campaign+"/resign", "")
	if ended := a.await("ended"); ended.Cause != "stopped" || ended.Leading || ended.Milliseconds != 0 {
		t.Errorf("got %+v", ended)
	}
	if elected := b.await("elected"); elected.Token != 2 {
		t.Errorf("got %+v", elected)
	}
	if names := a.rest(); !slices.Contains(names, "released") {
		t.Errorf("after the end came %q", names)
	}
}

// TestDoneReleasesAtOnce: the drain would last 10 s, the lease a minute.
func TestDoneReleasesAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, long)
	a := d.campaign("")
	a.await("elected")
	b := d.campaign("")
	start := time.Now()
	d.must("/v1/elections/open/campaigns/"+a.first.Campaign+"/resign", "")
	b.await("elected")
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestClosingAfterTheEndReleasesAtOnce, since it says that the work has stopped.
func TestClosingAfterTheEndReleasesAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t, long)
	a := d.campaign("")
	a.await("elected")
	b := d.campaign("")
	start := time.Now()
	d.must("/v1/elections/open/resign", "")
	if ended := a.await("ended"); ended.Cause != "resigned" {
		t.Errorf("got %+v", ended)
	}
	_ = a.body.Close()
	b.await("elected")
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestClientThatGoesHasTheDrain, and not the whole lease.
func TestClientThatGoesHasTheDrain(t *testing.T) {
	t.Parallel()
	const drain = 2 * time.Second
	d := newDesk(t, func(o *Options) { o.Elections[1].TTL, o.Elections[1].Drain = time.Minute, drain })
	a := d.campaign("")
	a.await("elected")
	b := d.campaign("")
	start := time.Now()
	_ = a.body.Close()
	b.await("elected")
	if took := time.Since(start); took < drain || took > 20*time.Second {
		t.Errorf("it took %v, want the drain, %v, and not much more", took, drain)
	}
	d.awaitLine("campaign over", "parting=gone")
}

// TestClientThatStandsBy leaves nothing behind when it goes.
func TestClientThatStandsBy(t *testing.T) {
	t.Parallel()
	d := newDesk(t, long)
	a := d.campaign("")
	a.await("elected")
	b := d.campaign("")
	_ = b.body.Close()
	d.await("open", "left by b", func(v view) bool { return len(v.Candidates) == 1 })
	if len(d.sidecar.streams) != 1 {
		t.Errorf("%d streams are taken", len(d.sidecar.streams))
	}
}

// TestIgnoringTheEnd: a seat is not given back while the client's work may go on.
func TestIgnoringTheEnd(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(o *Options) { o.Elections[1].TTL, o.Elections[1].Drain = time.Minute, 300*time.Millisecond })
	a := d.campaign("")
	a.await("elected")
	d.must("/v1/elections/open/resign", "")
	a.await("ended")
	if names := a.rest(); !slices.Contains(names, "overran") || slices.Contains(names, "released") {
		t.Errorf("after the end came %q", names)
	}
	d.await("open", "left", func(v view) bool { return len(v.Candidates) == 0 })
	if r := d.record("open"); r.Vacant() {
		t.Errorf("the seat was given back: %+v", r)
	}
	if _, text := d.get("/leader?election=open"); !strings.Contains(text, `"name":"side/`) {
		t.Errorf("got %s", text) // as for everybody else, the lease has to run out
	}
}

// silent campaigns over a connection from which nothing is read, and returns what it was told first.
func silent(t *testing.T, d *desk) *net.UnixConn {
	t.Helper()
	conn, err := net.Dial("unix", d.sidecar.options.Address.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = conn.Write([]byte("POST /v1/elections/open/campaign HTTP/1.1\r\nHost: localhost\r\n" +
		"Content-Type: application/json\r\nContent-Length: 15\r\n\r\n{\"id\":\"frozen\"}"))
	if err != nil {
		t.Fatal(err)
	}
	return conn.(*net.UnixConn)
}

// TestSilentClient: one that does not read is given up, but keeps its seat for as long as it may still believe in it.
func TestSilentClient(t *testing.T) {
	t.Parallel()
	const drain = 300 * time.Millisecond
	d := newDesk(t, func(o *Options) {
		o.Address = unixAddress(t)
		o.Elections[1].TTL, o.Elections[1].Drain = 3*time.Second, drain
		o.Heartbeat, o.WriteTimeout = 20*time.Millisecond, 200*time.Millisecond
	})
	conn := silent(t, d)
	d.await("open", "led by it", func(v view) bool { return v.Leader == "frozen" })
	b := d.campaign(`{"id": "b"}`)
	elected := b.await("elected")
	var last campaignEvent // what it was told is still in the buffer, up to an event that was cut off
	text := make([]byte, 1<<20)
	for {
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		n, err := conn.Read(text)
		for part := range strings.SplitSeq(string(text[:n]), "\n") {
			var e campaignEvent
			if json.Unmarshal([]byte(part), &e) == nil && e.Leading {
				last = e
			}
		}
		if err != nil {
			break
		}
	}
	if !last.Leading {
		t.Fatal("it was told nothing")
	}
	if earliest := last.Until.Add(drain); elected.At.Before(earliest) {
		t.Errorf("the next was elected at %v, but the silent one could believe until %v and then drain", elected.At, last.Until)
	}
	d.awaitLine("campaign over", "parting=silent")
}

func TestConfirmation(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(o *Options) {
		o.Elections[1].TTL, o.Elections[1].Drain = 4*time.Second, 200*time.Millisecond
	})
	a := d.campaign(`{"confirm_within_ms": 1500}`)
	confirm := func() (e campaignEvent) {
		text := d.must("/v1/elections/open/campaigns/"+a.first.Campaign+"/confirm", "")
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatal(err)
		}
		return e
	}
	elected := a.await("elected")
	b := d.campaign("")
	var last campaignEvent
	for time.Since(elected.At) < 3*time.Second { // two intervals: only what comes in between keeps the term
		if last = confirm(); !last.Leading || last.Token != 1 || last.Milliseconds <= 0 {
			t.Fatalf("got %+v", last)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if ended := a.await("ended"); ended.Cause != "unconfirmed" || ended.At.Sub(last.At) < 1400*time.Millisecond {
		t.Errorf("got %+v after %+v", ended, last)
	}
	if late := confirm(); late.Leading || late.Milliseconds != 0 {
		t.Errorf("trust was handed out after the end: %+v", late)
	}
	if next := b.await("elected"); next.At.Before(last.Until) {
		t.Errorf("the next was elected at %v, but the client could believe until %v", next.At, last.Until)
	}
}

func TestTransferBetweenCampaigns(t *testing.T) {
	t.Parallel()
	d := newDesk(t, long)
	a := d.campaign(`{"id": "a"}`)
	a.await("elected")
	b, c := d.campaign(`{"id": "b"}`), d.campaign(`{"id": "c"}`)
	d.must("/v1/elections/open/transfer", `{"to": "c", "by": "ann"}`)
	a.await("ended")
	d.must("/v1/elections/open/campaigns/"+a.first.Campaign+"/resign", "")
	if elected := c.await("elected"); elected.Token != 2 {
		t.Errorf("got %+v", elected)
	}
	if !d.log.HasLine("action=transfer", "election=open", `by="ann (127.0.0.1:`, "leader=a") {
		t.Error("nobody knows who asked")
	}
	_ = b.body.Close()
}

// TestEndOfTheSidecar: campaigns are told, and their seats are free at once if the clients go.
func TestEndOfTheSidecar(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(o *Options) {
		long(o)
		o.Elections[0].Drain = 100 * time.Millisecond // somebody may act on what is asked below, so it passes in full
	})
	a := d.campaign("")
	a.await("elected")
	d.await("own", "led", func(v view) bool { return v.Leading })
	events := d.stream(d.request(http.MethodGet, "/v1/elections/open/events", "", lines))
	events.await("first")
	ended := make(chan error, 1)
	go func() { ended <- d.end() }()
	if e := a.await("ended"); e.Cause != "stopped" {
		t.Errorf("got %+v", e)
	}
	_ = a.body.Close()
	events.rest()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("it goes on")
	}
	for _, name := range []string{"own", "open"} {
		if r := d.record(name); !r.Vacant() || r.Token != 1 {
			t.Errorf("%s: the seat was not given back: %+v", name, r)
		}
	}
}

// lines asks for a stream of JSON lines.
func lines(r *http.Request) { r.Header.Set("Accept", "application/x-ndjson") }
