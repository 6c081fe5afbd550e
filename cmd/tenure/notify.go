package main

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"sync"
	"time"
)

// serviceManager is who started this process and wants to hear how it is doing, as sd_notify(3) of systemd describes.
type serviceManager struct {
	conn *net.UnixConn
	// patience is how long it lets pass without a sign of life before it kills the process; 0 if for ever.
	patience time.Duration
}

// lastWords bounds how long the end of this process waits for a manager that does not listen.
const lastWords = time.Second

// attendManager tells the service manager, if there is one, that this process serves; then again and again that it
// lives, and when ctx ends, that it is stopping. The function that it returns ends that.
func (a *app) attendManager(ctx context.Context) (done func()) {
	m, err := findManager()
	if err != nil {
		a.log.Warn("the service manager cannot be told that this process serves", "error", err)
	}
	if m == nil {
		return func() {}
	}
	ended, end := context.WithCancel(context.WithoutCancel(ctx))
	var attendance sync.WaitGroup
	attendance.Go(func() { m.attend(ctx, ended) })
	return func() {
		end()
		_ = m.conn.SetWriteDeadline(time.Now().Add(lastWords)) // or a manager that has stopped reading held up the end
		attendance.Wait()
		_ = m.conn.Close()
	}
}

// findManager returns nil if nobody wants to hear.
func findManager() (*serviceManager, error) {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil, nil
	}
	patience, err := watchdog()
	if err != nil {
		return nil, err
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return nil, err
	}
	return &serviceManager{conn, patience}, nil
}

// watchdog returns the longest silence that is allowed, 0 if any is.
func watchdog() (time.Duration, error) {
	text := os.Getenv("WATCHDOG_USEC")
	whose := os.Getenv("WATCHDOG_PID")
	if text == "" || whose != "" && whose != strconv.Itoa(os.Getpid()) {
		return 0, nil
	}
	micros, err := strconv.ParseInt(text, 10, 64)
	if err != nil || micros <= 0 || micros > int64(24*time.Hour/time.Microsecond) {
		return 0, errors.New("WATCHDOG_USEC is no number of microseconds")
	}
	return time.Duration(micros) * time.Microsecond, nil
}

// attend tells the manager what happens until ended ends.
func (m *serviceManager) attend(ctx, ended context.Context) {
	m.tell("READY=1")
	var signs <-chan time.Time
	if m.patience > 0 {
		ticker := time.NewTicker(max(m.patience/3, time.Millisecond)) // so that one that is late does not count as silence
		defer ticker.Stop()
		signs = ticker.C
	}
	stopping := ctx.Done()
	for {
		select {
		case <-signs:
			m.tell("WATCHDOG=1")
		case <-stopping:
			m.tell("STOPPING=1")
			stopping = nil // said once
		case <-ended.Done():
			if stopping != nil && ctx.Err() != nil {
				m.tell("STOPPING=1") // it ended as soon as it was told to
			}
			return
		}
	}
}

// tell sends a message. One that is not heard makes a manager that relies on it act by itself.
func (m *serviceManager) tell(message string) { _, _ = m.conn.Write([]byte(message)) }
