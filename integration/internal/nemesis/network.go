//go:build linux

package nemesis

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tenure-go/tenure/integration/internal/crew"
	"github.com/tenure-go/tenure/integration/internal/history"
	"github.com/tenure-go/tenure/internal/tcpproxy"
)

// partition cuts a candidate off from the store: nothing passes, connections stay open, and what was sent meanwhile
// arrives when it heals, as TCP sees to.
type partition struct{}

func (partition) Name() string { return "partition" }

func (partition) Unfit(s *Scene) string { return unreached(s) }

func (partition) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	return onLine(s, r, taken, line{
		begin: (*tcpproxy.Proxy).Hold, end: (*tcpproxy.Proxy).Release, silentRequests: true, silentReplies: true,
	})
}

// deaf lets a candidate's requests through, holds the answers, and then drops them and the connections.
type deaf struct{}

func (deaf) Name() string { return "replies-lost" }

func (deaf) Unfit(s *Scene) string { return unreached(s) }

func (deaf) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	return onLine(s, r, taken, line{begin: (*tcpproxy.Proxy).HoldReplies, end: dropped, silentReplies: true})
}

// halfOpen swallows a candidate's requests, lets what the store pushes through, and then drops the connections.
type halfOpen struct{}

func (halfOpen) Name() string { return "half-open" }

func (halfOpen) Unfit(s *Scene) string { return unreached(s) }

func (halfOpen) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	return onLine(s, r, taken, line{begin: (*tcpproxy.Proxy).HoldRequests, end: dropped, silentRequests: true})
}

// dropped resets connections before anything that was held can pass.
func dropped(p *tcpproxy.Proxy) {
	p.Cut()
	p.Release()
}

// refuse resets a candidate's connections and takes no new ones.
type refuse struct{}

func (refuse) Name() string { return "refuse" }

func (refuse) Unfit(s *Scene) string { return unreached(s) }

func (refuse) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	return onLine(s, r, taken, line{
		begin: func(p *tcpproxy.Proxy) { p.Refuse(true); p.Cut() }, end: func(p *tcpproxy.Proxy) { p.Refuse(false) },
		silentRequests: true, silentReplies: true,
	})
}

// lag delays everything between a candidate and the store.
type lag struct{}

func (lag) Name() string { return "lag" }

func (lag) Unfit(s *Scene) string { return unreached(s) }

func (lag) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	by := between(r, 20*time.Millisecond, s.TTL/4)
	a := onLine(s, r, taken, line{
		begin: func(p *tcpproxy.Proxy) { p.Delay(by) }, end: func(p *tcpproxy.Proxy) { p.Delay(0) },
	})
	if a != nil {
		a.Parameters = map[string]string{"by": by.String()}
	}
	return a
}

func unreached(s *Scene) string {
	if len(s.Server.Addrs) == 0 {
		return "there is no network between candidates and this store"
	}
	return ""
}

// line is what is done to every proxy of a candidate, and in which direction nothing may pass then.
type line struct {
	begin, end                    func(*tcpproxy.Proxy)
	silentRequests, silentReplies bool
}

// carried is what the proxies of a candidate have carried.
func carried(c *crew.Candidate) (requests, replies int64) {
	for _, p := range c.Line.TCP {
		to, from := p.Carried()
		requests, replies = requests+to, replies+from
	}
	return requests, replies
}

func onLine(s *Scene, r *rand.Rand, taken []string, l line) *Attack {
	hold := shortOrLong(r, s.TTL)
	c := s.draw(r, taken, nil)
	if c == nil {
		return nil
	}
	var requests, replies int64
	return &Attack{
		Fault: history.Fault{Targets: []string{c.Name}}, Hold: hold,
		Begin: func() error {
			for _, p := range c.Line.TCP {
				l.begin(p)
			}
			requests, replies = carried(c)
			return nil
		},
		End: func() (string, error) {
			nowRequests, nowReplies := carried(c)
			for _, p := range c.Line.TCP {
				l.end(p)
			}
			sent, got := nowRequests-requests, nowReplies-replies
			var err error
			if sent > 0 && l.silentRequests || got > 0 && l.silentReplies {
				err = fmt.Errorf("%d bytes went to the store and %d came back, in spite of it", sent, got)
			}
			return fmt.Sprintf("%d bytes went to the store and %d came back", sent, got), err
		},
	}
}
