package consoletest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/sidecar"
)

// evil is what somebody may put wherever the store keeps text.
const evil = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>`

// TestHostileNames are shown as they are, and do nothing.
func TestHostileNames(t *testing.T) {
	election := `x"'><script>window.pwned=1</script>` + "\u202e"
	s := newStage(t, func(o *sidecar.Options) {
		o.Elections = append(o.Elections, campaigns(election))
	})
	lead(t, s.stand(election, evil+"1", tenure.WithAddress("javascript:window.pwned=1"),
		tenure.WithMetadata(map[string]string{evil: evil + "\n\u202e", "__proto__": "x"})))
	s.stand(election, evil+"2")
	pause := tenure.Pause{By: evil + "by", Reason: evil + "\r\nreason"}
	b := startBrowser(t)
	p := b.open(t, s.url(), phone)
	p.awaitText(election, ".leader", evil+"1")
	p.awaitText(election, "h2", `x"'><script>window.pwned=1</script>\u{202e}`)
	p.awaitText(election, ".facts", evil+`\u{a}\u{202e}`)
	p.awaitText(election, ".facts", "javascript:window.pwned=1")
	p.checkFits()
	p.press(election, ".transfer")
	p.await("the question", "document.getElementById('ask').open")
	p.do(chromedp.Click(chromedp.ID("ask-cancel")))
	if _, err := tenure.SetPause(t.Context(), s.store, election, pause); err != nil {
		t.Fatal(err)
	}
	p.awaitText(election, ".wish", evil+`\u{d}\u{a}reason`)
	p.await("the end of the term", "!"+card(election, ".leader")+".innerText.includes(%s)", evil) // which closes a question
	if _, err := tenure.LiftPause(t.Context(), s.store, election); err != nil {
		t.Fatal(err)
	}
	p.awaitText(election, ".leader", evil)
	p.press(election, ".resign")
	p.do(chromedp.SetValue(chromedp.ID("ask-by"), evil), chromedp.Click(chromedp.ID("ask-confirm")))
	p.awaitText(election, ".answer", evil)
	p.await("the audit line", "document.getElementById('actions').innerText.includes(%s)", evil)
	p.checkFits()
	p.save("hostile")
	if got := eval[string](p, "String(window.pwned)"); got != "undefined" {
		t.Error("it was run")
	}
	if n := eval[int](p, "document.querySelectorAll('main img, main script, main a, dialog img, dialog script').length"); n > 0 {
		t.Errorf("%d elements were made of text", n)
	}
}

// TestPolicyIsKept by the browser: even a page that made HTML of text, or a script that was written into it, could do
// nothing.
func TestPolicyIsKept(t *testing.T) {
	s, b := newStage(t, nil), startBrowser(t)
	p := b.open(t, s.url(), wide)
	p.allow("Content Security Policy|Trusted|TrustedHTML|trusted type")
	p.awaitText("own", ".who", "side")
	if got := eval[string](p, `(() => { try { document.body.innerHTML = '<p>'; return 'taken'; } catch (e) { return e.name; } })()`); got != "TypeError" {
		t.Errorf("text was taken for HTML: %s", got)
	}
	for name, attempt := range map[string]string{
		"an inline script":      `const e = document.createElement('script'); e.append('window.pwned = 1'); document.body.append(e)`,
		"another host's script": `const e = document.createElement('script'); e.setAttribute('src', 'data:text/javascript,window.pwned=1'); document.body.append(e)`,
		"a handler":             `const e = document.createElement('p'); e.setAttribute('onclick', 'window.pwned = 1'); document.body.append(e); e.click()`,
		"text that is compiled": `setTimeout('window.pwned = 1', 0)`,
	} {
		eval[bool](p, `(() => { try { `+attempt+` } catch {} return true; })()`)
		eval[bool](p, `new Promise((done) => setTimeout(() => done(true), 100))`) // in which it would be run
		if got := eval[string](p, "String(window.pwned)"); got != "undefined" {
			t.Errorf("%s was run", name)
		}
	}
	sent := eval[string](p, `fetch('http://127.0.0.1:1/').then(() => 'sent', () => 'not sent')`)
	violations := eval[int](p, `new Promise((done) => {
		let n = 0;
		document.addEventListener('securitypolicyviolation', () => n++);
		fetch('http://localhost:1/').catch(() => setTimeout(() => done(n), 100));
	})`)
	if sent != "not sent" || violations != 1 {
		t.Errorf("a request to somebody else was %s, with %d violations", sent, violations)
	}
	framed := b.open(t, s.url()+"icon.svg", wide) // of the same origin
	framed.allow("frame|Framing|favicon")
	got := eval[string](framed, `new Promise((done) => {
		const e = document.createElementNS('http://www.w3.org/1999/xhtml', 'iframe');
		e.src = '/console/';
		e.onload = () => { try { done(e.contentDocument?.title ?? 'none'); } catch { done('none'); } };
		document.documentElement.append(e);
	})`)
	if strings.Contains(got, "tenure") {
		t.Error("it can be framed")
	}
}
