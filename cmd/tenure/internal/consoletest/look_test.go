package consoletest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/sidecar"
)

const longName = "shard-0017.of.the.search-index-of-customers-in-europe"

// newScene is a stage with everything that an election can be.
func newScene(t *testing.T) *stage {
	t.Helper()
	broken := &failing{failed: map[string]bool{}}
	s := newStage(t, func(o *sidecar.Options) {
		broken.Store = o.Store
		o.Store, o.ID = broken, "web-7f9c4"
		o.Elections = []sidecar.Election{
			{
				Name: "billing", TTL: ttl, Drain: ttl / 5, Address: "10.0.0.7:8080",
				Metadata: map[string]string{"zone": "eu-west-1b", "version": "2.14.1"},
			},
			campaigns("nightly-report"), campaigns("migrations"), campaigns("outbox-relay"), campaigns("exports"),
			campaigns(longName),
		}
	})
	a, b := lead(t, s.stand("nightly-report", "node-a")), s.stand("nightly-report", "node-b")
	s.awaitSeen("nightly-report", "node-a")
	s.shift(a, b)
	s.shift(b, a)
	lead(t, s.stand("migrations", "job-1"))
	pause := tenure.Pause{By: "ann (127.0.0.1:52114)", Reason: "schema change, ticket 4711"}
	if _, err := tenure.SetPause(t.Context(), s.store, "migrations", pause); err != nil {
		t.Fatal(err)
	}
	lead(t, s.stand("outbox-relay", "relay-3", tenure.WithAddress("10.0.3.3:9000")))
	leave(t, lead(t, s.stand("exports", "exporter-1")))
	lead(t, s.stand(longName, "search-indexer-59d8f7b6c-x2x9k.search.svc.cluster.local"))
	s.awaitSeen("outbox-relay", "relay-3")
	broken.fail("outbox-relay", true)
	return s
}

func campaigns(name string) sidecar.Election {
	return sidecar.Election{Name: name, Campaign: true, TTL: ttl, Drain: ttl / 5}
}

// shift moves leadership, and returns once the sidecar has seen it, which polls this store.
func (s *stage) shift(from, to *tenure.Candidate) {
	s.t.Helper()
	if err := from.TransferTo(s.t.Context(), to.ID()); err != nil {
		s.t.Fatal(err)
	}
	s.awaitSeen(from.Election(), lead(s.t, to).ID())
}

// TestLooks opens the page in light and dark, in a window and on a phone: all states are shown, nothing has to be
// scrolled sideways, and the page does not complain.
func TestLooks(t *testing.T) {
	s, b := newScene(t), startBrowser(t)
	for _, l := range []look{wide, night, phone, sleep} {
		t.Run(l.name, func(t *testing.T) {
			p := b.open(t, "http://"+s.addr+"/", l) // which leads browsers to the console
			for election, state := range map[string]string{
				"billing": "held", "nightly-report": "held", "migrations": "paused", "outbox-relay": "out of sight",
				"exports": "vacant", longName: "held",
			} {
				p.awaitText(election, ".state", state)
			}
			p.awaitText("billing", ".who", "web-7f9c4")
			p.awaitText("billing", ".facts", "10.0.0.7:8080")
			p.awaitText("billing", ".facts", "eu-west-1b")
			p.awaitText("billing", ".since", "for")
			p.awaitText("billing", ".lease", "others can take the seat in")
			p.awaitText("billing", ".candidates", "to spare")
			p.awaitText("nightly-report", ".number", "3")
			p.awaitText("nightly-report", ".changes", "node-b token 2")
			p.awaitText("migrations", ".wish", "schema change, ticket 4711")
			p.awaitText("outbox-relay", ".failure", "connection refused")
			p.awaitText("outbox-relay", ".lease", "cannot be seen")
			light := eval[int](p, "parseInt(getComputedStyle(document.documentElement).getPropertyValue('--page').slice(1, 3), 16)")
			if dark := light < 0x40; dark != l.dark {
				t.Errorf("the page is dark: %v", dark)
			}
			p.checkFits()
			p.checkContrast()
			p.checkNames()
			p.save("scene-" + l.name)
			p.press("nightly-report", ".transfer")
			p.await("the dialog", "document.getElementById('ask').open")
			p.checkFits()
			p.checkContrast()
			p.checkNames()
			p.save("dialog-" + l.name)
		})
	}
}

// checkFits: the page is as wide as the window, and so is everything in it.
func (b *tab) checkFits() {
	b.t.Helper()
	type extent struct{ Content, Window float64 }
	e := eval[extent](b, "({Content: document.documentElement.scrollWidth, Window: document.documentElement.clientWidth})")
	if e.Content > e.Window {
		b.t.Errorf("the page is %v wide, the window %v", e.Content, e.Window)
	}
	out := eval[[]string](b, `[...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && !e.closest('.unseen, .skip, .strip')
		&& e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map((e) => e.tagName + '.' + e.className)`)
	if len(out) > 0 {
		b.t.Errorf("these stick out: %q", out)
	}
}

// checkContrast: text that can be read stands out from what is behind it as WCAG 2 asks of level AA.
func (b *tab) checkContrast() {
	b.t.Helper()
	faint := eval[[]string](b, `(() => {
		const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
		const rgba = (color) => {
			canvas.clearRect(0, 0, 1, 1);
			canvas.fillStyle = color;
			canvas.fillRect(0, 0, 1, 1);
			return [...canvas.getImageData(0, 0, 1, 1).data];
		};
		const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
			.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
		const behind = (e) => {
			for (; e; e = e.parentElement) {
				const color = rgba(getComputedStyle(e).backgroundColor);
				if (color[3] > 250) return color;
			}
			return rgba(getComputedStyle(document.documentElement).getPropertyValue('--page'));
		};
		return [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && !e.closest('.unseen, .skip, :disabled')
			&& [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim()))
			.map((e) => {
				const a = light(rgba(getComputedStyle(e).color)), b = light(behind(e));
				return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e];
			})
			.filter(([ratio]) => ratio < 4.5).map(([ratio, e]) => ratio.toFixed(2) + ' ' + e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 30));
	})()`)
	if len(faint) > 0 {
		b.t.Errorf("these are hard to read: %s", strings.Join(faint, "\n"))
	}
}

// checkNames: everything that can be operated has a name of its own, also without sight.
func (b *tab) checkNames() {
	b.t.Helper()
	names := eval[[]string](b, `[...document.querySelectorAll('button, input')].filter((e) => e.checkVisibility()).map((e) => {
		const by = (e.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join(' ').trim();
		const name = by || e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent;
		return (e.closest('dialog') ? 'dialog: ' : '') + name.trim();
	})`)
	seen := map[string]bool{}
	for _, name := range names {
		if name == "" || name == "dialog: " || seen[name] && !strings.HasPrefix(name, "Show all") {
			b.t.Errorf("of the names %q, %q is empty or there twice", names, name)
		}
		seen[name] = true
	}
}

// TestKeyboard: with keys alone one gets to an election and through a question, and back to where one was.
func TestKeyboard(t *testing.T) {
	s, b := newStage(t, nil), startBrowser(t)
	p := b.open(t, s.url(), wide)
	p.awaitText("own", ".state", "held")
	focused := func() string {
		return eval[string](p, "document.activeElement.closest('.card')?.dataset.election + ' ' + (document.activeElement.id || document.activeElement.textContent)")
	}
	var path []string
	for range 20 {
		p.do(chromedp.KeyEvent("\t"))
		if path = append(path, focused()); strings.Contains(path[len(path)-1], "own") && strings.Contains(path[len(path)-1], "pause") {
			break
		}
	}
	button := path[len(path)-1]
	p.do(chromedp.KeyEvent("\r"))
	p.await("the dialog", "document.getElementById('ask').open && document.activeElement.id === 'ask-reason'")
	p.do(chromedp.KeyEvent("\x1b"))
	p.await("its end", "!document.getElementById('ask').open")
	if got := focused(); got != button || !strings.Contains(got, "pause") {
		t.Errorf("from %q the keys led to %q; on the way were %q", button, got, path)
	}
	p.do(chromedp.KeyEvent("\r"))
	p.await("the dialog", "document.getElementById('ask').open")
	p.do(chromedp.KeyEvent("by keys"), chromedp.KeyEvent("\r"))
	p.awaitText("own", ".state", "paused")
	p.awaitText("own", ".wish", "by keys")
}

// TestLaterPageHasThePast: what happened before a page was opened is there.
func TestLaterPageHasThePast(t *testing.T) {
	s, b := newStage(t, nil), startBrowser(t)
	first := b.open(t, s.url(), wide)
	first.awaitText("open", ".state", "not begun")
	for _, id := range []string{"a", "b", "c", "d"} {
		c := lead(t, s.stand("open", id))
		first.awaitText("open", ".who", id)
		leave(t, c)
		first.awaitText("open", ".who", "Nobody")
	}
	second := b.open(t, s.url(), wide)
	second.awaitText("open", ".who", "Nobody")
	second.awaitText("open", ".changes", "d token 4")
	if got := second.text("open", ".changes"); strings.Contains(got, "a token 1") {
		t.Errorf("all is shown at once: %s", got)
	}
	second.press("open", ".more")
	second.awaitText("open", ".changes", "a token 1")
	if drawn := eval[int](second, card("open", ".strip")+".querySelectorAll('.term').length"); drawn != 4 {
		t.Errorf("%d terms are drawn", drawn)
	}
	if label := eval[string](second, card("open", ".strip")+".getAttribute('aria-label')"); !strings.Contains(label, "d with token 4 until") {
		t.Errorf("the drawing is told as %q", label)
	}
}
