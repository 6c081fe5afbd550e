package consoletest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"

	"github.com/tenure-go/tenure/internal/testserver"
)

// patience is how long a test waits for what has to happen some time, on however slow a machine.
const patience = 60 * time.Second

// browser opens tabs that share nothing with each other.
type browser struct{ ctx context.Context }

func startBrowser(t *testing.T) *browser {
	t.Helper()
	chromium := testserver.StartChromium(t)
	allocator, cancel := remote.NewAllocator(context.Background(), "http://"+chromium.Addr)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("open the browser: %v", err)
	}
	return &browser{ctx}
}

// tab is a page in a window, and what it said on the console.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	allowed    *regexp.Regexp // complaints that a test brings about
}

// look says how a tab shows pages.
type look struct {
	name          string
	width, height int64
	mobile, dark  bool
}

var (
	wide  = look{name: "wide", width: 1280, height: 900}
	night = look{name: "wide-dark", width: 1280, height: 900, dark: true}
	phone = look{name: "phone", width: 360, height: 740, mobile: true}
	sleep = look{name: "phone-dark", width: 360, height: 740, mobile: true, dark: true}
)

// open opens a page. The test fails if the page complains on the console.
func (b *browser) open(t *testing.T, url string, l look) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	tab := &tab{t: t, ctx: ctx}
	ended := make(chan struct{})
	messages := chromedp.Console(ctx)
	go func() {
		defer close(ended)
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning || m.Type == chromedp.ConsoleException {
				tab.mu.Lock()
				tab.complaints = append(tab.complaints, fmt.Sprintf("%s: %s (%s:%d)", m.Type, m.Text, m.URL, m.Line+1))
				tab.mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() {
		if t.Failed() {
			tab.save("failed-" + strings.ReplaceAll(t.Name(), "/", "-"))
		}
		cancel()
		<-ended
		tab.checkComplaints()
	})
	tab.dress(l)
	tab.do(chromedp.Navigate(url))
	return tab
}

// dress gives the window its size and colors.
func (b *tab) dress(l look) {
	b.t.Helper()
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	var options []chromedp.EmulateViewportOption
	if l.mobile {
		options = append(options, chromedp.EmulateMobile)
	}
	b.do(chromedp.EmulateViewport(l.width, l.height, options...))
}

// allow has complaints pass that the test brings about itself, such as those of a request that is refused.
func (b *tab) allow(pattern string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.allowed = regexp.MustCompile(pattern)
}

func (b *tab) checkComplaints() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		if b.allowed == nil || !b.allowed.MatchString(c) {
			b.t.Errorf("the page complains: %s", c)
		}
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns the value of an expression of JavaScript.
func eval[T any](b *tab, expression string, args ...any) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](fill(expression, args...), chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", fill(expression, args...), err)
	}
	return value
}

// fill puts arguments into an expression, as literals.
func fill(expression string, args ...any) string {
	literals := make([]any, len(args))
	for i, arg := range args {
		text, err := json.Marshal(arg)
		if err != nil {
			panic(err) // none of the tests' arguments can be at fault
		}
		literals[i] = string(text)
	}
	return fmt.Sprintf(expression, literals...)
}

// await waits until an expression is true.
func (b *tab) await(what, expression string, args ...any) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) { // the page has to draw what happened
		if eval[bool](b, "Boolean("+expression+")", args...) {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("%s: not within %v; the page has\n%s", what, patience, eval[string](b, "document.body.innerText"))
		}
	}
}

// card is an expression for an element of an election's card.
func card(election, selector string) string {
	return fill("[...document.querySelectorAll('.card')].find((c) => c.dataset.election === %s)?.querySelector(%s)",
		election, selector)
}

// text is what an element of a card shows, nothing if it is hidden.
func (b *tab) text(election, selector string) string {
	b.t.Helper()
	return eval[string](b, card(election, selector)+"?.checkVisibility() ? "+card(election, selector)+".innerText.trim() : ''")
}

func (b *tab) awaitText(election, selector, want string) {
	b.t.Helper()
	b.await(fmt.Sprintf("%q in %s of %s", want, selector, election),
		"("+card(election, selector)+"?.checkVisibility() ?? false) && "+card(election, selector)+".innerText.includes(%s)", want)
}

// press clicks a button of a card with the mouse.
func (b *tab) press(election, selector string) {
	b.t.Helper()
	b.await(selector+" can be pressed", "("+card(election, selector)+") && !("+card(election, selector)+").disabled")
	eval[bool](b, "("+card(election, selector)+".setAttribute('data-press', ''), true)")
	b.do(chromedp.Click(chromedp.CSS("[data-press]"), chromedp.NodeVisible))
	eval[bool](b, "("+card(election, selector)+".removeAttribute('data-press'), true)")
}

// save keeps a picture of the page for people, if TENURE_SCREENSHOTS names a directory.
func (b *tab) save(name string) {
	dir := os.Getenv("TENURE_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644)
	}
	if err != nil {
		b.t.Logf("no picture: %v", err)
	}
}
