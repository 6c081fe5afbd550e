package consoletest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/tenure-go/tenure"
)

// TestFailOverAppears within a moment, without a reload.
func TestFailOverAppears(t *testing.T) {
	s, b := newStage(t, nil), startBrowser(t)
	a := lead(t, s.stand("open", "a"))
	elected := make(chan time.Time, 1)
	s.stand("open", "b", tenure.WithObserver(func(e tenure.Event) {
		if e.Kind == tenure.EventElected {
			elected <- time.Now()
		}
	}))
	p := b.open(t, s.url(), wide)
	p.awaitText("open", ".who", "a")
	eval[bool](p, `(() => {
		window.same = true;
		new MutationObserver(() => {
			if (`+card("open", ".leader")+`.textContent === 'b') window.shown ??= Date.now();
		}).observe(document.body, { subtree: true, childList: true, characterData: true });
		return true;
	})()`)
	leave(t, a)
	p.await("b shown", "window.shown")
	took := time.UnixMilli(eval[int64](p, "window.shown")).Sub(<-elected)
	t.Logf("it was shown %v after b was elected", took)
	if took > 20*time.Second { // a machine that is as slow as that is still no reason to reload
		t.Errorf("it was shown only after %v", took)
	}
	if !eval[bool](p, "window.same === true") {
		t.Error("the page was loaded again")
	}
	p.await("an announcement", "document.getElementById('said').textContent.endsWith('b leads')")
	p.awaitText("open", ".changes", "b token 2")
	p.awaitText("open", ".number", "2")
}

// TestSilenceIsCountedDown: while a leader cannot renew, what is left of its lease falls, until somebody else leads.
func TestSilenceIsCountedDown(t *testing.T) {
	s, b := newStage(t, nil), startBrowser(t)
	cut := &failing{Store: s.store, failed: map[string]bool{}}
	lead(t, s.standOver(cut, "open", "a"))
	s.stand("open", "b")
	p := b.open(t, s.url(), wide)
	p.awaitText("open", ".left", "s")
	eval[bool](p, `(() => {
		window.lefts = [];
		new MutationObserver(() => {
			if (`+card("open", ".leader")+`.textContent !== 'a') return;
			window.lefts.push(parseFloat(`+card("open", ".left")+`.textContent) || 0);
		}).observe(`+card("open", ".lease")+`, { subtree: true, childList: true, characterData: true });
		return true;
	})()`)
	p.await("a renewal", "window.lefts.some((left, i) => i > 0 && left > window.lefts[i - 1] + 0.5)")
	cut.fail("open", true)
	p.awaitText("open", ".who", "b")
	lefts := eval[[]float64](p, "window.lefts")
	if most := slices.Max(lefts); most > ttl.Seconds() {
		t.Errorf("at most %v s were left, more than the TTL", most)
	}
	if least := slices.Min(lefts); least > ttl.Seconds()/2 { // while it renews, two thirds are left at least
		t.Errorf("b took the seat when %v s were left", least)
	}
}

// TestTransfer by clicking moves leadership, and leaves an audit line on the page and in the log.
func TestTransfer(t *testing.T) {
	s, b := newStage(t, nil), startBrowser(t)
	a := lead(t, s.stand("open", "a"))
	c := s.stand("open", "b")
	p := b.open(t, s.url(), phone)
	p.awaitText("open", ".who", "a")

	p.press("open", ".transfer")
	p.await("the question", "document.getElementById('ask').open")
	p.do(chromedp.Click(chromedp.ID("ask-cancel")))
	p.await("its end", "!document.getElementById('ask').open")
	if r := s.record("open"); r.Request != nil || !a.IsLeader() {
		t.Fatalf("it was asked though nobody confirmed: %+v", r)
	}

	p.press("open", ".transfer")
	p.do(chromedp.Click(chromedp.ID("ask-confirm")))
	p.await("a complaint", "document.getElementById('ask-failure').textContent.includes('Say who')")
	p.do(chromedp.SendKeys(chromedp.ID("ask-name"), "b"))
	p.do(chromedp.SetValue(chromedp.ID("ask-by"), "ann"))
	p.do(chromedp.Click(chromedp.ID("ask-confirm")))
	lead(t, c)
	p.awaitText("open", ".who", "b")
	p.awaitText("open", ".answer", "a, token 1, was asked to hand over to b by ann (127.0.0.1:")
	p.await("the audit line", "document.getElementById('actions').innerText.includes('asked a to hand over to b')")
	p.awaitText("open", ".changes", "asked to leave by ann")
	if !s.log.HasLine("msg=audit", "action=transfer", "election=open", "to=b", "ann (127.0.0.1:") {
		t.Errorf("no line of the log has the transfer:\n%s", s.log.String())
	}
	p.save("transferred")

	// Back again, by choosing who has led before.
	p.press("open", ".transfer")
	p.await("a choice", "document.querySelector('#ask-known input')?.value === 'a' && document.querySelector('#ask-known input').checked")
	if by := eval[string](p, "document.getElementById('ask-by').value"); by != "ann" {
		t.Errorf("the name is asked for again: %q", by)
	}
	p.do(chromedp.Click(chromedp.ID("ask-confirm")))
	lead(t, a)
	p.awaitText("open", ".who", "a")
}

// TestPauseAndResume, with a reason.
func TestPauseAndResume(t *testing.T) {
	s, b := newStage(t, nil), startBrowser(t)
	p := b.open(t, s.url(), wide)
	p.awaitText("own", ".who", "side")
	p.press("own", ".pause")
	p.do(chromedp.SendKeys(chromedp.ID("ask-reason"), "moving house"), chromedp.SendKeys(chromedp.ID("ask-by"), "ann"))
	p.do(chromedp.Click(chromedp.ID("ask-confirm")))
	p.awaitText("own", ".state", "paused")
	p.awaitText("own", ".answer", "Paused by ann (127.0.0.1:")
	p.awaitText("own", ".wish", ": moving house")
	p.awaitText("own", ".who", "Nobody may lead")
	if pause := s.record("own").Pause; pause == nil || pause.Reason != "moving house" || !strings.HasPrefix(pause.By, "ann (") {
		t.Errorf("the record has %+v", pause)
	}
	other := b.open(t, s.url(), wide) // whoever looks sees who it was
	other.await("the audit line", "document.getElementById('actions').innerText.includes('moving house')")

	p.press("own", ".resume")
	p.do(chromedp.Click(chromedp.ID("ask-confirm")))
	p.awaitText("own", ".state", "held")
	p.awaitText("own", ".answer", "Resumed by ann")
	for _, action := range []string{"pause", "resume"} {
		if !s.log.HasLine("msg=audit", "action="+action, "election=own", "ann (127.0.0.1:") {
			t.Errorf("no line of the log has the %s:\n%s", action, s.log.String())
		}
	}
}

// TestResign has the leader go, and others take over.
func TestResign(t *testing.T) {
	s, b := newStage(t, nil), startBrowser(t)
	lead(t, s.stand("open", "a"))
	s.stand("open", "b")
	p := b.open(t, s.url(), wide)
	p.awaitText("open", ".who", "a")
	p.press("open", ".resign")
	p.await("who it is about", "document.getElementById('ask-text').textContent.includes('a leads with token 1')")
	p.do(chromedp.Click(chromedp.ID("ask-confirm")))
	p.awaitText("open", ".who", "b")
	p.awaitText("open", ".answer", "a, token 1, was asked to resign")
}

// TestQuestionAboutAnotherTerm: what was meant for one leader does not hit the next.
func TestQuestionAboutAnotherTerm(t *testing.T) {
	s, b := newStage(t, nil), startBrowser(t)
	a := lead(t, s.stand("open", "a"))
	s.stand("open", "b")
	p := b.open(t, s.url(), wide)
	p.awaitText("open", ".who", "a")
	p.press("open", ".resign")
	p.await("the question", "document.getElementById('ask').open")
	leave(t, a)
	p.await("its end", "!document.getElementById('ask').open")
	p.awaitText("open", ".answer", "Nothing was asked")
	p.awaitText("open", ".who", "b")
	if r := s.record("open"); r.Request != nil {
		t.Errorf("%+v was asked", r.Request)
	}
}

// TestRefusalIsShown where it was asked, and can be corrected there.
func TestRefusalIsShown(t *testing.T) {
	s, b := newStage(t, nil), startBrowser(t)
	p := b.open(t, s.url(), wide)
	p.allow("status of 400")
	p.awaitText("own", ".who", "side")
	p.press("own", ".transfer")
	p.do(chromedp.SetValue(chromedp.ID("ask-name"), strings.Repeat("\u00fc", 200)), chromedp.Click(chromedp.ID("ask-confirm")))
	p.await("the refusal", "document.getElementById('ask-failure').checkVisibility() && document.getElementById('ask-failure').textContent.includes('255')")
	p.save("refused")
	p.await("another try", "document.getElementById('ask').open && !document.getElementById('ask-confirm').disabled")
	p.do(chromedp.SetValue(chromedp.ID("ask-name"), "b"), chromedp.Click(chromedp.ID("ask-confirm")))
	p.awaitText("own", ".answer", "was asked to hand over to b")
}
