//go:build linux

package worker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Orders that a candidate takes on its standard input, one a line. It answers each with a line.
const (
	// OrderClock moves the wall clock by a duration.
	OrderClock = "clock"
	// OrderExhaust takes all connections of the pool, and OrderRelease gives them back.
	OrderExhaust = "exhaust"
	OrderRelease = "release"
)

// obey carries orders out. The end of the input is that of the nemesis, and of this process.
func (w *candidate) obey(orders io.Reader, answers io.Writer) {
	var released chan struct{}
	for lines := bufio.NewScanner(orders); lines.Scan(); {
		order, argument, _ := strings.Cut(lines.Text(), " ")
		answer := "unknown order"
		switch order {
		case OrderClock:
			answer = w.moveClock(argument)
		case OrderExhaust:
			released = make(chan struct{})
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			answer = "no store"
			if store := w.store.Load(); store != nil {
				answer = fmt.Sprintf("holds %d connections of its pool", store.exhaust(ctx, released))
			}
			cancel()
		case OrderRelease:
			if released != nil {
				close(released)
				released = nil
			}
			answer = "released"
		}
		fmt.Fprintln(answers, answer)
	}
	os.Exit(3)
}

func (w *candidate) moveClock(argument string) string {
	by, err := time.ParseDuration(argument)
	if err != nil || w.clock == nil {
		return fmt.Sprintf("cannot be moved: %v", err)
	}
	w.clock.move(by)
	return "moved by " + argument
}
