package s3

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/httpproxy"
	"github.com/tenure-go/tenure/internal/objectstore/objecttest"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// What every answer to a write says of it.
func TestAnswersToAWrite(t *testing.T) {
	wait := http.Header{"Retry-After": {"7"}}
	objecttest.Answers(t, serverUnderTest(t), map[string]objecttest.Answer{
		"slow down":          objecttest.Expect(httpproxy.Answer(503, wait, failure("SlowDown")), storetest.NotApplied, 7*time.Second),
		"slow down, no wait": objecttest.Expect(httpproxy.Answer(503, nil, failure("SlowDown")), storetest.NotApplied, 0),
		"too many requests":  objecttest.Expect(httpproxy.Throttle(429, 2*time.Second, ""), storetest.NotApplied, 2*time.Second),
		"conflict":           objecttest.Expect(httpproxy.Answer(409, nil, failure("ConditionalRequestConflict")), storetest.NotApplied, 0),
		"expired":            objecttest.Expect(httpproxy.Answer(400, nil, failure("ExpiredToken")), storetest.NotApplied, 0),
		"expired, as 403":    objecttest.Expect(httpproxy.Answer(403, nil, failure("ExpiredToken")), storetest.NotApplied, 0),
		"denied":             objecttest.Expect(httpproxy.Answer(403, nil, failure("AccessDenied")), storetest.Permanent, 0),
		"wrong bucket":       objecttest.Expect(httpproxy.Answer(404, nil, failure("NoSuchBucket")), storetest.Permanent, 0),
		"wrong region":       objecttest.Expect(httpproxy.Answer(301, nil, failure("PermanentRedirect")), storetest.Permanent, 0),
		"no conditions":      objecttest.Expect(httpproxy.Answer(501, nil, failure("NotImplemented")), storetest.Permanent, 0),
		"gone":               objecttest.Expect(httpproxy.Answer(404, nil, failure("NoSuchKey")), storetest.Conflict, 0),
		"lost request":       objecttest.Expect(httpproxy.LoseRequest(), storetest.Unknown, 0),
		"lost reply":         objecttest.Expect(httpproxy.LoseReply(), storetest.Unknown, 0),
		"unavailable":        objecttest.Expect(httpproxy.Misreport(503, wait, failure("ServiceUnavailable")), storetest.Unknown, 0),
		"gateway timeout":    objecttest.Expect(httpproxy.Misreport(504, nil, "<html>"), storetest.Unknown, 0),
		"internal error":     objecttest.Expect(httpproxy.Misreport(500, nil, failure("InternalError")), storetest.Unknown, 0),
		"repeated":           objecttest.Expect(httpproxy.Repeat(), storetest.Conflict, 0),
	})
}

func TestAnswersToARead(t *testing.T) {
	server := testserver.StartVersityGW(t)
	proxy := httpproxy.Start(t, server.Addr)
	s := openStore(t, server, proxy.URL())
	storetest.Swap(t, s, "e", "", storetest.Held(1, "a"))
	for name, test := range map[string]struct {
		fault httpproxy.Fault
		want  storetest.Outcome
	}{
		"slow down":    {httpproxy.Throttle(503, 7*time.Second, failure("SlowDown")), storetest.NotApplied},
		"denied":       {httpproxy.Answer(403, nil, failure("AccessDenied")), storetest.Permanent},
		"wrong bucket": {httpproxy.Answer(404, nil, failure("NoSuchBucket")), storetest.Permanent},
		"lost":         {httpproxy.LoseReply(), storetest.Unknown},
		"cut short":    {httpproxy.Answer(200, http.Header{"Content-Length": {"1000"}, "ETag": {`"x"`}}, "{"), storetest.Unknown},
		"foreign":      {httpproxy.Answer(200, http.Header{"ETag": {`"x"`}}, "hello"), storetest.Permanent},
	} {
		in := proxy.Inject(test.fault.On(http.MethodGet, "")) // a read may be repeated
		if _, err := s.Load(t.Context(), "e"); storetest.OutcomeOf(err) != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
		in.Heal()
	}
	if _, err := s.Load(t.Context(), "e"); err != nil {
		t.Error(err)
	}
}

func TestNothingSentIsNotApplied(t *testing.T) { objecttest.NothingSent(t, serverUnderTest(t)) }

func TestNothingIsSentWithoutCredentials(t *testing.T) {
	server := testserver.StartVersityGW(t)
	lapsed := false
	c := s3.New(s3.Options{
		Region: "us-east-1", UsePathStyle: true, BaseEndpoint: aws.String(server.Endpoint()),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			if lapsed {
				return aws.Credentials{}, errors.New("the session has ended")
			}
			return aws.Credentials{AccessKeyID: server.AccessKey, SecretAccessKey: server.SecretKey}, nil
		}),
	})
	s, err := New(c, server.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	current := storetest.Swap(t, s, "e", "", storetest.Held(1, "a"))
	lapsed = true
	_, err = s.CompareAndSwap(t.Context(), "e", current.Version, storetest.Held(2, "a"))
	storetest.Want(t, storetest.NotApplied, err)
	lapsed = false
	if now := storetest.Load(t, s, "e"); now.Version != current.Version {
		t.Errorf("with credentials again: %+v", now)
	}
}

// A user's client that retries must not do so here: what it would report is that of its last attempt.
func TestRetriesOfTheClientAreOff(t *testing.T) {
	server := testserver.StartVersityGW(t)
	proxy := httpproxy.Start(t, server.Addr)
	s := openStore(t, server, proxy.URL())
	current := storetest.Swap(t, s, "e", "", storetest.Held(1, "a"))
	puts := proxy.Count(http.MethodPut)
	proxy.Inject(httpproxy.LoseReply().On(http.MethodPut, "").Times(1))
	_, err := s.CompareAndSwap(t.Context(), "e", current.Version, storetest.Held(2, "a"))
	if storetest.OutcomeOf(err) != storetest.Unknown || proxy.Count(http.MethodPut) != puts+1 {
		t.Errorf("%d writes were sent: %v", proxy.Count(http.MethodPut)-puts, err)
	}
}

func TestTermOutlivesWhatPasses(t *testing.T) {
	objecttest.TermOutlives(t, serverUnderTest(t),
		httpproxy.Answer(409, nil, failure("ConditionalRequestConflict")),
		httpproxy.Answer(503, nil, failure("SlowDown")), httpproxy.Misreport(500, nil, failure("InternalError")),
		httpproxy.Answer(403, nil, failure("ExpiredToken")))
}

// A candidate that is throttled comes again when the server said, and not before.
func TestRetryAfterIsObeyed(t *testing.T) {
	server := testserver.StartVersityGW(t)
	proxy := httpproxy.Start(t, server.Addr)
	f := fleet.New(t)
	const wait = 3 * time.Second // longer than any back-off of its own that comes first
	arrivals := make(chan time.Time, 100)
	in := proxy.Inject(httpproxy.Throttle(503, wait, failure("SlowDown")).When(func(*http.Request) bool {
		arrivals <- time.Now()
		return true
	}))
	f.Stand(openStore(t, server, proxy.URL()), "a", fleet.Patient...)
	first, second := <-arrivals, <-arrivals
	if early := wait - second.Sub(first); early > 0 {
		t.Errorf("the next request came %v early", early)
	}
	in.Heal()
	f.Next()
	f.Check()
}

func TestFleetThroughFaults(t *testing.T) {
	objecttest.Fleet(t, serverUnderTest(t),
		httpproxy.Answer(403, nil, failure("ExpiredToken")), httpproxy.Throttle(503, time.Second, failure("SlowDown")))
}

// A server that takes every write is caught before it holds an election.
func TestIgnoringServerIsRefused(t *testing.T) {
	for name, heeded := range map[string]func(*http.Request) bool{
		"all conditions": func(*http.Request) bool { return false },
		"If-Match":       func(r *http.Request) bool { return r.Header.Get("If-Match") == "" },
		"If-None-Match":  func(r *http.Request) bool { return r.Header.Get("If-None-Match") == "" },
	} {
		server := startFake(t, heeded)
		for range 2 {
			s := openStore(t, &testserver.VersityGW{Bucket: "b", AccessKey: "k", SecretKey: "s"}, server.URL)
			_, err := s.CompareAndSwap(t.Context(), "e", "", storetest.Held(1, "a"))
			if storetest.OutcomeOf(err) != storetest.Permanent || !strings.Contains(err.Error(), "ignores") {
				t.Errorf("ignoring %s: %v", name, err)
			}
			if _, err := s.Guarantee(t.Context()); storetest.OutcomeOf(err) != storetest.Permanent {
				t.Errorf("ignoring %s: guarantee: %v", name, err)
			}
		}
		if keys := server.keys(); strings.Contains(strings.Join(keys, " "), "elections/") {
			t.Errorf("ignoring %s: the server holds %q", name, keys)
		}
	}
	s := openStore(t, &testserver.VersityGW{Bucket: "b", AccessKey: "k", SecretKey: "s"},
		startFake(t, func(*http.Request) bool { return true }).URL)
	storetest.Swap(t, s, "e", storetest.Swap(t, s, "e", "", storetest.Held(1, "a")).Version, storetest.Held(2, "a"))
}
