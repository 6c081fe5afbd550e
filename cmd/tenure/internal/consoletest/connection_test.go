package consoletest

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/tenure-go/tenure/cmd/tenure/internal/sidecar"
	"github.com/tenure-go/tenure/internal/tcpproxy"
)

// noRequest is what the browser itself says of a request that was answered by nobody, or not as hoped for.
const noRequest = `ERR_|status of|network error`

const (
	isLive = "document.getElementById('link').dataset.link === 'live'"
	isLost = "document.getElementById('link').dataset.link === 'lost'"
)

// checkStale: nothing is shown as if it were so now, and nothing can be asked.
func (b *tab) checkStale(election string) {
	b.t.Helper()
	b.await("an alarm", "document.getElementById('trouble').checkVisibility() && document.getElementById('trouble').innerText.includes('how things stood at')")
	if left := b.text(election, ".left"); left != "" {
		b.t.Errorf("%q are said to be left of a lease that nobody sees", left)
	}
	b.awaitText(election, ".lease", "cannot be seen")
	if end := b.text(election, ".to"); end == "now" {
		b.t.Error("terms are drawn up to now, which nobody knows")
	}
	if n := eval[int](b, "document.querySelectorAll('.card .buttons button:not(:disabled)').length"); n > 0 {
		b.t.Errorf("%d buttons can be pressed", n)
	}
	b.await("the bar of the lease empties", card(election, ".bar span")+".getBoundingClientRect().width < 1") // it glides
}

// TestLostSidecar is shown at once, and found again when it is back.
func TestLostSidecar(t *testing.T) {
	s, b := newStage(t, nil), startBrowser(t)
	lead(t, s.stand("open", "a")) // goes on when the sidecar, which gives its own seat back, ends
	p := b.open(t, s.url(), wide)
	p.allow(noRequest)
	p.awaitText("own", ".left", "s")
	p.awaitText("open", ".left", "s")
	eval[bool](p, "window.same = true")
	s.end()
	p.await("the loss", isLost)
	p.checkStale("open")
	p.save("lost")
	s.serve()
	p.await("the recovery", isLive)
	p.awaitText("own", ".left", "s")
	p.await("no alarm", "!document.getElementById('trouble').checkVisibility()")
	p.awaitText("own", ".number", "2")
	if !eval[bool](p, "window.same === true") {
		t.Error("the page was loaded again")
	}
}

// TestSilentConnection: one on which nothing comes any more, though nobody has closed it, is as good as lost.
func TestSilentConnection(t *testing.T) {
	s, b := newStage(t, nil), startBrowser(t)
	proxy := tcpproxy.Start(t, s.addr)
	p := b.open(t, "http://"+proxy.Addr()+"/console/", wide)
	p.allow(noRequest)
	p.awaitText("own", ".left", "s")
	proxy.Hold()
	p.await("the loss", isLost)
	p.checkStale("own")
	proxy.Release()
	p.await("the recovery", isLive)
	p.awaitText("own", ".left", "s")
}

// TestLateEvents: what comes steadily, but from long ago, is not shown as fresh.
func TestLateEvents(t *testing.T) {
	s, b := newStage(t, nil), startBrowser(t)
	proxy := tcpproxy.Start(t, s.addr)
	p := b.open(t, "http://"+proxy.Addr()+"/console/", wide)
	p.allow(noRequest)
	p.awaitText("own", ".left", "s")
	proxy.Delay(2 * time.Second)
	time.Sleep(3 * time.Second) // so that the stream never falls silent, and only what it says is ever older
	proxy.Delay(4 * time.Second)
	p.await("the loss", isLost)
	proxy.Hold()
	p.checkStale("own")
	proxy.Delay(0)
	proxy.Release()
	p.await("the recovery", isLive)
	p.awaitText("own", ".left", "s")
}

// TestSleepingPage: what a page that was frozen finds when it wakes is old, and it does not show it as fresh.
func TestSleepingPage(t *testing.T) {
	s, b := newStage(t, nil), startBrowser(t)
	p := b.open(t, s.url(), wide)
	p.allow(noRequest)
	p.awaitText("own", ".left", "s")
	eval[bool](p, `(() => {
		window.links = [];
		new MutationObserver(() => window.links.push(document.getElementById('link').dataset.link + ' ' + `+card("own", ".left")+`.textContent))
			.observe(document.getElementById('link'), { attributes: true });
		return true;
	})()`)
	p.sleep(8 * time.Second) // several beats of the stream, by the browser's clock
	p.await("the loss noticed", "window.links.some((link) => link.startsWith('lost'))")
	p.await("the recovery", isLive)
	p.awaitText("own", ".left", "s")
}

// sleep freezes the page as a browser does with tabs that nobody looks at.
func (b *tab) sleep(d time.Duration) {
	b.t.Helper()
	for _, state := range []page.SetWebLifecycleStateState{
		page.SetWebLifecycleStateStateFrozen, page.SetWebLifecycleStateStateActive,
	} {
		if _, err := chromedp.Call(b.ctx, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: state}); err != nil {
			b.t.Fatal(err)
		}
		if state == page.SetWebLifecycleStateStateFrozen {
			time.Sleep(d)
		}
	}
}

// TestFailingStore is shown where it fails, for as long as it does.
func TestFailingStore(t *testing.T) {
	broken := &failing{failed: map[string]bool{}}
	s := newStage(t, func(o *sidecar.Options) {
		broken.Store = o.Store
		o.Store = broken
	})
	lead(t, s.stand("open", "a"))
	p := startBrowser(t).open(t, s.url(), wide)
	p.awaitText("open", ".left", "s")
	broken.fail("open", true)
	p.awaitText("open", ".failure", "connection refused")
	p.awaitText("open", ".lease", "cannot be seen")
	p.awaitText("open", ".changes", "Store failed")
	p.awaitText("own", ".left", "s")
	broken.fail("open", false)
	p.await("the end of it", "!"+card("open", ".failure")+".checkVisibility()")
	p.awaitText("open", ".left", "s")
	p.awaitText("open", ".changes", "Store back")
	if text := p.text("open", ".changes"); strings.Contains(text, "Silent") {
		t.Errorf("a is said to have been silent: %s", text)
	}
}

// TestToken: where one is needed the page asks for it, keeps it in this tab alone, and sends it with everything.
func TestToken(t *testing.T) {
	const token = "correct horse battery"
	s := newStage(t, func(o *sidecar.Options) { o.Token = strings.ReplaceAll(token, " ", "-") })
	b := startBrowser(t)
	p := b.open(t, s.url(), phone)
	p.allow(noRequest)
	asked := "document.getElementById('login').checkVisibility()"
	p.await("the question", asked)
	p.save("login")
	if n := eval[int](p, "document.querySelectorAll('.card').length"); n > 0 {
		t.Errorf("%d elections are shown to somebody unknown", n)
	}
	p.checkFits()
	p.do(chromedp.SendKeys(chromedp.ID("token"), "wrong-wrong-wrong-wrong\r"))
	p.await("the refusal", "document.getElementById('login-failure').innerText.includes('does not take')")
	p.do(chromedp.SendKeys(chromedp.ID("token"), s.options.Token+"\r"))
	p.awaitText("own", ".who", "side")
	p.press("own", ".pause")
	p.do(chromedp.Click(chromedp.ID("ask-confirm")))
	p.awaitText("own", ".state", "paused")
	p.do(chromedp.Reload())
	p.awaitText("own", ".state", "paused")
	if where := eval[string](p, "document.cookie + JSON.stringify(localStorage) + location.href"); strings.Contains(where, s.options.Token) {
		t.Errorf("the token is in %s", where)
	}
	other := b.open(t, s.url(), phone)
	other.allow(noRequest)
	other.await("the question", asked)
}

// TestOtherElections: many can be sifted by name, and a sidecar that comes back with others is shown with those.
func TestOtherElections(t *testing.T) {
	s := newStage(t, func(o *sidecar.Options) {
		for _, name := range []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta"} {
			o.Elections = append(o.Elections, campaigns(name))
		}
	})
	p := startBrowser(t).open(t, s.url(), phone)
	p.allow(noRequest)
	p.awaitText("zeta", ".state", "not begun")
	shown := func() string {
		return eval[string](p, "[...document.querySelectorAll('.card')].filter((c) => c.checkVisibility()).map((c) => c.dataset.election).join(' ')")
	}
	p.do(chromedp.SendKeys(chromedp.ID("find"), "ETA"))
	if got, want := shown(), "beta zeta"; got != want {
		t.Errorf("found are %q, want %q", got, want)
	}
	p.checkFits()
	p.save("find")
	s.end()
	s.options.Elections = append(s.options.Elections[2:4:4], campaigns("own"))
	s.serve()
	p.await("the rest gone", "document.querySelectorAll('.card').length === 3")
	p.awaitText("own", ".state", "")
	if got, want := shown(), "alpha beta own"; got != want {
		t.Errorf("shown are %q, want %q", got, want)
	}
}
