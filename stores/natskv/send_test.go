package natskv

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/storetest"
)

// leader is a stream's leader that gives its answers in turn, and the last one again and again.
type leader struct {
	jetstream.JetStream
	answers []error
	asked   int
}

func (l *leader) PublishMsg(context.Context, *nats.Msg, ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	answer := l.answers[min(l.asked, len(l.answers)-1)]
	l.asked++
	if answer != nil {
		return nil, answer
	}
	return &jetstream.PubAck{Sequence: 8}, nil
}

// What is refused while another write to the key is not through yet is sent again, until it is told what became of it.
func TestOccupiedKeyIsAskedForAgain(t *testing.T) {
	inProcess := &jetstream.APIError{ErrorCode: jetstream.JSErrCodeStreamWrongLastSequenceConstant}
	wrong := &jetstream.APIError{ErrorCode: jetstream.JSErrCodeStreamWrongLastSequence}
	lost := errors.New("lost")
	for what, c := range map[string]struct {
		answers []error
		within  time.Duration // zero for ever
		want    error
		asked   int
	}{
		"free":                   {answers: []error{nil}, asked: 1},
		"free soon":              {answers: []error{inProcess, inProcess, nil}, asked: 3},
		"changed":                {answers: []error{inProcess, wrong}, want: wrong, asked: 2},
		"not heard of":           {answers: []error{inProcess, lost, nil}, want: lost, asked: 2},
		"occupied for good":      {answers: []error{inProcess}, want: inProcess, asked: 9},
		"occupied for too long":  {answers: []error{inProcess}, within: 5 * time.Millisecond, want: inProcess, asked: 3},
		"changed from the start": {answers: []error{wrong, nil}, want: wrong, asked: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			if c.within > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.within)
				defer cancel()
			}
			l := &leader{answers: c.answers}
			sequence, err := send(ctx, l, &nats.Msg{}, "KV_elections", 7)
			if !errors.Is(err, c.want) || err == nil && sequence != 8 || l.asked != c.asked {
				t.Errorf("%s: sent %d times, with %d and %v", what, l.asked, sequence, err)
			}
		})
	}
}

// While a write is on its way into the copies nothing is known of a conflict, whoever comes next.
func TestOccupiedKeyIsNoConflict(t *testing.T) {
	servers, leader, rest := cluster(t, nil)
	s := openStore(t, servers[leader].Addr, rest)
	current := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	copies := slices.Delete(slices.Clone(servers), leader, leader+1)
	for _, n := range copies {
		n.Freeze()
	}
	expected, err := sequenceOf(string(current.Version))
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(`{}`)
	_, err = s.js.PublishAsync(s.put+"billing", text, jetstream.WithExpectLastSequencePerSubject(expected))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.CompareAndSwap(t.Context(), "billing", current.Version, storetest.Held(2, "b"))
	storetest.Want(t, storetest.NotApplied, err)
	err = Objects{s.js, s.bucket}.Put(t.Context(), "billing", text, nil, string(current.Version))
	if !occupied(err) || errors.Is(err, fence.ErrChanged) {
		t.Errorf("a fenced write: %v", err)
	}
	for _, n := range copies {
		n.Thaw()
	}
	storetest.Eventually(t, "the write before is through", func() bool {
		_, err = s.CompareAndSwap(t.Context(), "billing", current.Version, storetest.Held(2, "b"))
		return !errors.Is(err, tenure.ErrNotApplied)
	})
	if err != nil { // unless the servers chose another leader meanwhile, who does not know of it
		storetest.Want(t, storetest.Conflict, err)
	}
}
