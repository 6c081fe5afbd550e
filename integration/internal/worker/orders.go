//go:build linux

package worker

import (
	"bufio"
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
	// Holds is how the answer begins to OrderExhaust that had an effect.
	Holds = "holds "
)

// obey carries orders out. The end of the input is that of the nemesis, and of this process.
func (w *candidate) obey(orders io.Reader, answers io.Writer) {
	release := func() {}
	for lines := bufio.NewScanner(orders); lines.Scan(); {
		order, argument, _ := strings.Cut(lines.Text(), " ")
		answer := "unknown order"
		switch order {
		case OrderClock:
			answer = w.moveClock(argument)
		case OrderExhaust:
			release, answer = w.exhaust()
		case OrderRelease:
			release()
			release, answer = func() {}, "released"
		}
		say(answers, answer)
	}
	os.Exit(3)
}

// say answers with one line. Some errors have several: the nemesis would take the rest for answers to its next orders.
func say(answers io.Writer, answer string) {
	fmt.Fprintln(answers, strings.Join(strings.Fields(answer), " "))
}

// exhaust takes the connections of the pool, and returns what gives them back.
func (w *candidate) exhaust() (release func(), answer string) {
	store := w.store.Load()
	if store == nil {
		return func() {}, "has no store yet"
	}
	release, effect, err := store.exhaust()
	if err != nil {
		return func() {}, err.Error()
	}
	return release, Holds + effect
}

func (w *candidate) moveClock(argument string) string {
	by, err := time.ParseDuration(argument)
	if err != nil || w.clock == nil {
		return fmt.Sprintf("cannot be moved: %v", err)
	}
	w.clock.move(by)
	return "moved by " + argument
}
