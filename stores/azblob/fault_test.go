package azblob

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	"github.com/tenure-go/tenure/internal/httpproxy"
	"github.com/tenure-go/tenure/internal/objectstore/objecttest"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// What every answer to a write says of it.
func TestAnswersToAWrite(t *testing.T) {
	objecttest.Answers(t, serverUnderTest(t), map[string]objecttest.Answer{
		"busy":              objecttest.Expect(refusal(503, "ServerBusy", "Retry-After", "7"), storetest.NotApplied, 7*time.Second),
		"busy, in ms":       objecttest.Expect(refusal(503, "ServerBusy", "X-Ms-Retry-After-Ms", "70"), storetest.NotApplied, 70*time.Millisecond),
		"busy, in both":     objecttest.Expect(refusal(503, "ServerBusy", "Retry-After", "1", "X-Ms-Retry-After-Ms", "70"), storetest.NotApplied, 70*time.Millisecond),
		"too many requests": objecttest.Expect(httpproxy.Throttle(429, 2*time.Second, ""), storetest.NotApplied, 2*time.Second),
		"in the way":        objecttest.Expect(refusal(409, "ContainerBeingDeleted"), storetest.NotApplied, 0),
		"leased":            objecttest.Expect(refusal(412, "LeaseIdMissing"), storetest.NotApplied, 0),
		"expired token":     objecttest.Expect(refusal(401, "InvalidAuthenticationInfo"), storetest.NotApplied, 0),
		"expired signature": objecttest.Expect(refusal(403, "AuthenticationFailed"), storetest.NotApplied, 0),
		"denied":            objecttest.Expect(refusal(403, "AuthorizationPermissionMismatch"), storetest.Permanent, 0),
		"no account":        objecttest.Expect(refusal(404, "ResourceNotFound"), storetest.Permanent, 0),
		"lost the race":     objecttest.Expect(refusal(412, "ConditionNotMet"), storetest.Conflict, 0),
		"there already":     objecttest.Expect(refusal(409, "BlobAlreadyExists"), storetest.Conflict, 0),
		"lost request":      objecttest.Expect(httpproxy.LoseRequest(), storetest.Unknown, 0),
		"lost reply":        objecttest.Expect(httpproxy.LoseReply(), storetest.Unknown, 0),
		"timed out":         objecttest.Expect(httpproxy.Misreport(500, http.Header{"X-Ms-Error-Code": {"OperationTimedOut"}}, ""), storetest.Unknown, 0),
		"gateway timeout":   objecttest.Expect(httpproxy.Misreport(504, nil, "<html>"), storetest.Unknown, 0),
		"unavailable":       objecttest.Expect(httpproxy.Misreport(503, nil, ""), storetest.Unknown, 0),
		"repeated":          objecttest.Expect(httpproxy.Repeat(), storetest.Conflict, 0),
	})
}

// Credentials that never worked are wrong; those that did have expired.
func TestWrongCredentialsArePermanent(t *testing.T) {
	server := testserver.StartAzurite(t)
	server.Key = "d3Jvbmc="
	s := openStore(t, server, server.Addr)
	if _, err := s.Load(t.Context(), "e"); storetest.OutcomeOf(err) != storetest.Permanent {
		t.Errorf("a wrong key: %v", err)
	}
	for _, status := range []int{401, 403} {
		proxy := httpproxy.Start(t, server.Addr)
		proxy.Inject(refusal(status, "AuthenticationFailed"))
		s := openStore(t, server, proxy.Addr())
		if _, err := s.CompareAndSwap(t.Context(), "e", "", storetest.Held(1, "a")); storetest.OutcomeOf(err) != storetest.Permanent {
			t.Errorf("credentials refused with %d: %v", status, err)
		}
	}
}

func TestMissingContainer(t *testing.T) {
	server := testserver.StartAzurite(t)
	s := openStore(t, server, server.Addr, WithCreate(false))
	_, loading := s.Load(t.Context(), "e")
	_, swapping := s.CompareAndSwap(t.Context(), "e", "", storetest.Held(1, "a"))
	for _, err := range []error{loading, swapping} {
		if storetest.OutcomeOf(err) != storetest.Permanent || !strings.Contains(err.Error(), "ContainerNotFound") {
			t.Errorf("without a container: %v", err)
		}
	}
	s = openStore(t, server, server.Addr)
	if names, err := s.List(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("before it is made: %q, %v", names, err)
	}
	if now := storetest.Load(t, s, "e"); now.Exists() {
		t.Errorf("before it is made: %+v", now)
	}
	storetest.Swap(t, s, "e", "", storetest.Held(1, "a"))
}

func TestNothingSentIsNotApplied(t *testing.T) { objecttest.NothingSent(t, serverUnderTest(t)) }

// A service that ignores conditions is caught before it holds an election. A shared access signature does not cover the
// headers that carry them, so they can be dropped on the way.
func TestIgnoringServiceIsRefused(t *testing.T) {
	server := testserver.StartAzurite(t)
	storetest.Swap(t, openStore(t, server, server.Addr), "e", "", storetest.Held(1, "a")) // makes the container
	proxy := httpproxy.Start(t, server.Addr)
	signed, err := client(t, server, server.Addr).GetSASURL(
		sas.ContainerPermissions{Read: true, Write: true, Create: true, List: true, Delete: true},
		time.Now().Add(time.Hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	through, err := container.NewClientWithNoCredential(strings.Replace(signed, server.Addr, proxy.Addr(), 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, condition := range []string{"If-Match", "If-None-Match", ""} {
		in := proxy.Inject(httpproxy.Strip(condition))
		for range 2 {
			s, err := New(through)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.CompareAndSwap(t.Context(), "other", "", storetest.Held(1, "a"))
			switch {
			case condition == "" && storetest.OutcomeOf(err) == storetest.Permanent:
				t.Errorf("a service that ignores nothing: %v", err)
			case condition != "" && (storetest.OutcomeOf(err) != storetest.Permanent || !strings.Contains(err.Error(), condition)):
				t.Errorf("ignoring %s: %v", condition, err)
			}
		}
		in.Heal()
	}
}

func TestTermOutlivesWhatPasses(t *testing.T) {
	objecttest.TermOutlives(t, serverUnderTest(t),
		refusal(503, "ServerBusy"), httpproxy.Misreport(500, nil, ""), refusal(401, "InvalidAuthenticationInfo"))
}

func TestFleetThroughFaults(t *testing.T) {
	objecttest.Fleet(t, serverUnderTest(t),
		refusal(403, "AuthenticationFailed"), httpproxy.Throttle(503, time.Second, ""))
}
