package testserver

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
)

// Chromium is a running browser without a window, to be driven through its DevTools protocol.
type Chromium struct {
	*Process
	// Addr is the host and port of the protocol.
	Addr string
}

// StartChromium starts a browser with a profile of its own and further arguments. It asks nobody on the Internet.
func StartChromium(tb TB, args ...string) *Chromium {
	tb.Helper()
	port := Port(tb)
	all := []string{
		"--headless=new", "--remote-debugging-port=" + strconv.Itoa(port), "--user-data-dir=" + Dir(tb),
		"--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--disable-extensions", "--disable-gpu", "--disable-dev-shm-usage",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
	}
	if os.Geteuid() == 0 {
		all = append(all, "--no-sandbox") // which is refused to root; what is loaded is our own
	}
	all = append(append(all, args...), "about:blank")
	process := Start(tb, Command{Program: Find(tb, "chromium"), Args: all, Ready: devToolsAnswer(Addr(port))})
	return &Chromium{Process: process, Addr: Addr(port)}
}

func devToolsAnswer(addr string) func(context.Context) error {
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/json/version", http.NoBody)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("its protocol answers %s", response.Status)
		}
		return nil
	}
}
