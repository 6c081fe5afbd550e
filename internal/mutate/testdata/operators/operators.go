// Package operators has something for each operator, and for what each must leave alone.
package operators

import (
	"math"
	"sync"
	"time"
)

const most = 2 * 1024

type pair struct {
	left, right int
	Reason      string
}

func conditions(a, b int, on bool) bool {
	if on && !(a < b) {
		return true
	}
	for a >= b {
		a--
	}
	switch {
	case a == b, on:
		return a != b || on
	case !on:
	default:
		return false
	}
	return on
}

// Where a bound is what the value is set to, it does not matter whether it is itself beyond.
func clamp(n int) int {
	if n > most {
		n = most
	}
	return min(n, int(math.Max(1, 2)))
}

func arithmetic(n int, text string) (int, string, time.Duration) {
	n += 3*n - n/10
	for i := 0; i < n; i++ {
		n -= i % 2
	}
	return n, text + "s", 5 * time.Second
}

func statements(mu *sync.Mutex, p *pair) (err error) {
	mu.Lock()
	defer mu.Unlock()
	var unused int
	_ = unused
	p.left, p.right = 1, 2
	p.left = 3
	if p.left > 4 {
		clamp(1)
	} else if p.right == 0 {
		clamp(2)
	}
	*p = pair{left: 1, right: 0, Reason: "text"}
	return nil
}

func cases(n int, news chan int) {
	switch n {
	case 1:
	case 2, 3:
		clamp(n)
	}
	select {
	case n = <-news:
	default:
	}
}

func (p *pair) String() string {
	if p.left > 0 {
		return "left"
	}
	return "right"
}

func found(list []pair) bool {
	for _, p := range list {
		if p.left > 0 {
			return true
		}
	}
	return false
}
