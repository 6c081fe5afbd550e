package natskv

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// A bucket that could lose a record is refused, and the error says why.
func TestUnfitBucketsAreRefused(t *testing.T) {
	server := testserver.StartNATS(t)
	js := connect(t, server.Addr)
	asMade := func(change func(*jetstream.StreamConfig)) jetstream.StreamConfig {
		s, err := New(js, "unfit")
		if err != nil {
			t.Fatal(err)
		}
		c := s.wanted()
		change(&c)
		return c
	}
	for name, test := range map[string]struct {
		change func(*jetstream.StreamConfig)
		want   string
	}{
		"as it is":           {func(*jetstream.StreamConfig) {}, ""},
		"room enough":        {func(c *jetstream.StreamConfig) { c.MaxBytes, c.MaxMsgSize = 1<<20, 16<<10 }, ""},
		"history":            {func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 5 }, ""},
		"age":                {func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour }, "1h0m0s"},
		"limit marker TTL":   {func(c *jetstream.StreamConfig) { c.AllowMsgTTL, c.SubjectDeleteMarkerTTL = true, time.Minute }, "limit marker TTL 1m0s"},
		"tiny":               {func(c *jetstream.StreamConfig) { c.MaxBytes = 1000 }, "at most 1000 bytes"},
		"tiny values":        {func(c *jetstream.StreamConfig) { c.MaxMsgSize = 100 }, "a value has at most 100 bytes"},
		"full of the newest": {func(c *jetstream.StreamConfig) { c.MaxBytes, c.Discard = 1<<20, jetstream.DiscardOld }, "discard policy old"},
		"few values":         {func(c *jetstream.StreamConfig) { c.MaxMsgs = 10 }, "at most 10 values"},
		"few newest values":  {func(c *jetstream.StreamConfig) { c.MaxMsgs, c.Discard = 10, jetstream.DiscardOld }, "discard policy old"},
		"values that stay":   {func(c *jetstream.StreamConfig) { c.DiscardNewPerSubject = true; c.MaxMsgs = 1000 }, "discard new per subject"},
		"unlimited history":  {func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = -1 }, "every message of a subject"},
		"consumed":           {func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy }, "consumed"},
		"not acknowledged":   {func(c *jetstream.StreamConfig) { c.NoAck = true }, "acknowledge"},
		"of other subjects":  {func(c *jetstream.StreamConfig) { c.Subjects = []string{"$KV.unfit.billing"} }, "$KV.unfit.billing"},
		"transformed subjects": {func(c *jetstream.StreamConfig) {
			c.SubjectTransform = &jetstream.SubjectTransformConfig{Source: ">", Destination: "a.>"}
		}, "transforms"},
		"sources": {func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{Name: "KV_other"}} }, "other streams"},
		"mirror": {func(c *jetstream.StreamConfig) {
			c.Mirror, c.Subjects, c.FirstSeq, c.Discard = &jetstream.StreamSource{Name: "KV_other"}, nil, 0, jetstream.DiscardOld
		}, "mirror"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := js.CreateStream(t.Context(), asMade(test.change)); err != nil {
				t.Fatal(err)
			}
			defer js.DeleteStream(t.Context(), "KV_unfit")
			s, err := New(js, "unfit")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			_, err = s.Load(t.Context(), "billing")
			if test.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Load returned %v, want ErrPermanent with %q", err, test.want)
			}
			_, err = s.CompareAndSwap(t.Context(), "billing", "", storetest.Held(1, "a"))
			if !errors.Is(err, tenure.ErrPermanent) {
				t.Errorf("CompareAndSwap returned %v, want ErrPermanent", err)
			}
		})
	}
}

func TestBucketIsMadeAsAsked(t *testing.T) {
	cluster := testserver.StartNATSCluster(t, 3, nil, `server_tags: ["ssd"]`)
	s := openStore(t, cluster[0].Addr, "elections?replicas=3&storage=memory&description=who+leads&cluster=test&tags=ssd")
	info, err := s.info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := info.Config
	if c.Replicas != 3 || c.Storage != jetstream.MemoryStorage || c.Description != "who leads" ||
		c.Placement == nil || c.Placement.Cluster != "test" || len(c.Placement.Tags) != 1 {
		t.Errorf("the bucket was made as %+v", c)
	}
	for parameters, want := range map[string]string{
		"replicas=1": "3 replicas, and 1 are asked for", "storage=file": "memory storage, and file is asked for",
	} {
		_, err := Open(t.Context(), "nats://"+cluster[0].Addr+"/elections?"+parameters)
		if !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%s: Open returned %v, want ErrPermanent with %q", parameters, err, want)
		}
	}
}

// creations hears the requests to make the bucket.
func creations(t *testing.T, conn *nats.Conn) <-chan *nats.Msg {
	t.Helper()
	asked := make(chan *nats.Msg, 100)
	_, err := conn.ChanSubscribe("$JS.API.STREAM.CREATE.KV_elections", asked)
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return asked
}

// Servers that have just started, or a placement that none of them suits: the first ends, so Open tries again, as long
// as its context lets it.
func TestPlacementThatSuitsNobody(t *testing.T) {
	t.Parallel()
	servers := testserver.StartNATSCluster(t, 3, nil)
	conn := connect(t, servers[0].Addr).Conn()
	asked := creations(t, conn)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := Open(ctx, "nats://"+servers[0].Addr+"/elections?replicas=3&tags=none")
	if err == nil || !strings.Contains(err.Error(), "no suitable peers") {
		t.Errorf("Open returned %v, want the reason", err)
	}
	if err := conn.Flush(); err != nil || len(asked) < 2 {
		t.Errorf("Open asked %d times, want it to try again; %v", len(asked), err)
	}
}

// What the servers said while they could is told, and not that the last attempt met silence.
func TestReasonOutlivesTheServer(t *testing.T) {
	t.Parallel()
	servers := testserver.StartNATSCluster(t, 3, nil)
	asked := creations(t, connect(t, servers[1].Addr).Conn())
	opened := make(chan error, 1)
	go func() {
		_, err := Open(t.Context(), "nats://"+servers[0].Addr+"/elections?replicas=3&tags=none")
		opened <- err
	}()
	for range 2 { // the second comes after the answer to the first
		select {
		case <-asked:
		case err := <-opened:
			t.Fatalf("Open returned %v, want it to try again", err)
		}
	}
	servers[0].Freeze()
	if err := <-opened; err == nil || !strings.Contains(err.Error(), "no suitable peers") {
		t.Errorf("Open returned %v, want the reason", err)
	}
}

func TestReplicasNeedACluster(t *testing.T) {
	server := testserver.StartNATS(t)
	_, err := Open(t.Context(), "nats://"+server.Addr+"/elections?replicas=3")
	if !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), "non-clustered") {
		t.Errorf("Open returned %v, want ErrPermanent", err)
	}
}

func TestBucketOfOthersIsUsed(t *testing.T) {
	server := testserver.StartNATS(t)
	js := connect(t, server.Addr)
	if _, err := Open(t.Context(), "nats://"+server.Addr+"/shared?create=false"); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("Open of a missing bucket that is not to be made returned %v, want ErrPermanent", err)
	}
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "shared", History: 5})
	if err != nil {
		t.Fatal(err)
	}
	s := openStore(t, server.Addr, "shared?create=false")
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	e, err := kv.Get(t.Context(), "billing")
	if err != nil || version(e.Revision()) != created.Version {
		t.Errorf("another client reads %v, %v, want the revision %s", e, err, created.Version)
	}
}

// Processes that start at once agree on one bucket.
func TestBucketIsMadeOnce(t *testing.T) {
	server := testserver.StartNATS(t)
	var opening sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		opening.Go(func() {
			var s *Store
			if s, errs[i] = Open(t.Context(), "nats://"+server.Addr+"/elections"); errs[i] == nil {
				defer s.Close()
				_, errs[i] = s.Load(t.Context(), "billing")
			}
		})
	}
	opening.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

func TestServerWithoutJetStream(t *testing.T) {
	server := testserver.StartNATS(t, "accounts {A: {users: [{user: u, password: p}]}}")
	_, err := Open(t.Context(), "nats://u:p@"+server.Addr+"/elections")
	if !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), "not enabled") {
		t.Errorf("Open returned %v, want ErrPermanent", err)
	}
}
