//go:build linux

package nemesis

import (
	"fmt"
	"math/rand/v2"

	"github.com/tenure-go/tenure/integration/internal/beds"
	"github.com/tenure-go/tenure/integration/internal/history"
)

func serverless(s *Scene) string {
	if len(s.Server.Nodes) == 0 {
		return "this store has no server"
	}
	return ""
}

// onNode plans something that is done to a process of the server: to one of several, so that the others can go on.
func onNode(s *Scene, r *rand.Rand, taken []string, begin, end func(beds.Node) (string, error)) *Attack {
	hold, pick := shortOrLong(r, s.TTL), r.IntN(len(s.Server.Nodes))
	n := s.Server.Nodes[pick]
	for _, name := range taken {
		if name == serverTarget {
			return nil
		}
	}
	return &Attack{
		Fault: history.Fault{Targets: []string{n.Name, serverTarget}, Loses: s.Server.Loses}, Hold: hold,
		Begin: func() error {
			return beds.Guarded(func() error {
				_, err := begin(n)
				return err
			})
		},
		End: func() (effect string, err error) {
			err = beds.Guarded(func() (err error) {
				effect, err = end(n)
				return err
			})
			return effect, err
		},
	}
}

// serverTarget is a target of everything that is done to the server, so that two things never are at once.
const serverTarget = "the store"

// freezeServer stops a process of the server.
type freezeServer struct{}

func (freezeServer) Name() string { return "server-freeze" }

func (freezeServer) Unfit(s *Scene) string { return serverless(s) }

func (freezeServer) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	return onNode(s, r, taken,
		func(n beds.Node) (string, error) { n.Freeze(); return "", nil },
		func(n beds.Node) (string, error) {
			n.Thaw()
			return fmt.Sprintf("process %d was stopped", n.PID()), nil
		})
}

// killServer ends a process of the server with kill -9, and starts it again later.
type killServer struct{}

func (killServer) Name() string { return "server-kill" }

func (killServer) Unfit(s *Scene) string {
	if s.Server.Gentle {
		return "what runs here stands for a service that keeps what this loses"
	}
	return serverless(s)
}

func (killServer) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	return onNode(s, r, taken,
		func(n beds.Node) (string, error) { n.Kill(); return "", nil },
		func(n beds.Node) (string, error) {
			n.Start()
			return fmt.Sprintf("it is process %d now", n.PID()), nil
		})
}

// restartServer ends a process of the server in good order, and starts it again at once or later.
type restartServer struct{}

func (restartServer) Name() string { return "server-restart" }

func (restartServer) Unfit(s *Scene) string { return serverless(s) }

func (restartServer) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	return onNode(s, r, taken,
		func(n beds.Node) (string, error) { n.Stop(); return "", nil },
		func(n beds.Node) (string, error) {
			n.Start()
			return fmt.Sprintf("it is process %d now", n.PID()), nil
		})
}

// changeLeader has another process of the server lead.
type changeLeader struct{}

func (changeLeader) Name() string { return "server-leader" }

func (changeLeader) Unfit(s *Scene) string {
	if s.Server.ChangeLeader == nil {
		return "no process of this store's server leads others"
	}
	return ""
}

func (changeLeader) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	var seen string
	a := onNode(s, r, taken,
		func(beds.Node) (_ string, err error) { seen, err = s.Server.ChangeLeader(); return "", err },
		func(beds.Node) (string, error) { return seen, nil })
	if a != nil {
		a.Targets, a.Loses, a.Moment, a.Hold = []string{serverTarget}, s.Server.ChangeLoses, true, a.Hold/4
	}
	return a
}
