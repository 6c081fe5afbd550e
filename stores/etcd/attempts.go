package etcd

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/tenure-go/tenure/internal/certainty"
)

// attempts is what is known of a write that the client may have sent more than once: after some failures it does so by
// itself. Then the last answer alone says nothing of what became of the first.
type attempts struct {
	member   peer.Peer // who got one, if any was sent
	doubtful bool      // one may have been carried out although its answer is an error
}

// options have each attempt noted.
func (a *attempts) options() []grpc.CallOption {
	return []grpc.CallOption{grpc.Peer(&a.member), grpc.OnFinish(a.finished)}
}

func (a *attempts) finished(err error) {
	a.doubtful = a.doubtful || err != nil && refusal(err) == nil
}

// outcome says what is known of a write that ended with an error. What is not known for certain stays as it is.
func (a *attempts) outcome(err error) error {
	switch marked := refusal(err); {
	case a.member.Addr == nil:
		return certainty.Mark(err)
	case a.doubtful || marked == nil:
		return err
	default:
		return marked
	}
}
