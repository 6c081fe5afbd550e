package kubernetes

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// wire stands between a store and its API server, and lets a test do what it likes with each request.
type wire struct {
	next   http.RoundTripper
	meddle atomic.Pointer[meddle]
	seen   atomic.Int64
}

type meddle func(request *http.Request, next http.RoundTripper) (*http.Response, error)

func (w *wire) RoundTrip(request *http.Request) (*http.Response, error) {
	w.seen.Add(1)
	if m := w.meddle.Load(); m != nil {
		return (*m)(request, w.next)
	}
	return w.next.RoundTrip(request)
}

func (w *wire) set(m meddle) { w.meddle.Store(&m) }

// wired opens a store as Open does, with a wire to meddle with.
func wired(t *testing.T, k *testserver.Kubernetes, namespace string) (*Store, *wire) {
	t.Helper()
	w := new(wire)
	config := &rest.Config{
		Host: k.URL(), BearerToken: testserver.KubernetesToken, TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		WrapTransport: func(next http.RoundTripper) http.RoundTripper { w.next = next; return w },
	}
	s, err := connect(config, namespace, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, w
}

// answer is a meddle that answers in the API server's place.
func answer(status int, header http.Header, reason metav1.StatusReason) meddle {
	return func(request *http.Request, _ http.RoundTripper) (*http.Response, error) {
		header := header.Clone()
		if header == nil {
			header = http.Header{}
		}
		header.Set("Content-Type", "application/json")
		text := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"` + string(reason) + `"}`
		return &http.Response{
			StatusCode: status, Header: header, Request: request, Body: io.NopCloser(strings.NewReader(text)),
		}, nil
	}
}

// A write that lands, and of which nobody hears, is in doubt.
func TestReplyIsLost(t *testing.T) {
	k := shared.Server(t)
	s, w := wired(t, k, newNamespace(t, k))
	for _, old := range []tenure.Version{"", "current"} {
		if old != "" {
			old = storetest.Load(t, s, "a").Version
		}
		w.set(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err != nil || request.Method == http.MethodGet {
				return response, err
			}
			_ = response.Body.Close()
			return nil, io.ErrUnexpectedEOF
		})
		_, err := s.CompareAndSwap(t.Context(), "a", old, storetest.Held(7, "leader"))
		storetest.Want(t, storetest.Unknown, err)
		w.meddle.Store(nil)
		if got := storetest.Load(t, s, "a"); got.Record.Leader != "leader" || got.Version == old {
			t.Errorf("the record is %+v", got)
		}
	}
}

// A write that is sent twice meets its own first one.
func TestRequestIsRepeated(t *testing.T) {
	k := shared.Server(t)
	s, w := wired(t, k, newNamespace(t, k))
	held := storetest.Swap(t, s, "a", "", storetest.Held(7, "leader"))
	w.set(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
		first, err := next.RoundTrip(request)
		if err != nil {
			return nil, err
		}
		_ = first.Body.Close()
		again := request.Clone(request.Context())
		again.Body = io.NopCloser(bytes.NewReader(body))
		return next.RoundTrip(again)
	})
	_, err := s.CompareAndSwap(t.Context(), "a", held.Version, storetest.Held(8, "other"))
	storetest.Want(t, storetest.Conflict, err)
	w.meddle.Store(nil)
	if got := storetest.Load(t, s, "a"); got.Record.Leader != "other" {
		t.Errorf("the record is %+v", got.Record)
	}
}

// What the API server answers says what became of a write. Only once is it sent: what client-go would repeat, the
// candidate decides.
func TestAnswersToAWrite(t *testing.T) {
	k := shared.Server(t)
	s, w := wired(t, k, newNamespace(t, k))
	held := storetest.Swap(t, s, "a", "", storetest.Held(7, "leader"))
	later := http.Header{"Retry-After": {"3"}}
	for _, c := range []struct {
		status int
		reason metav1.StatusReason
		header http.Header
		want   storetest.Outcome
		wait   time.Duration
	}{
		{409, metav1.StatusReasonConflict, nil, storetest.Conflict, 0},
		{404, metav1.StatusReasonNotFound, nil, storetest.Conflict, 0},
		{429, metav1.StatusReasonTooManyRequests, later, storetest.NotApplied, 3 * time.Second},
		{401, metav1.StatusReasonUnauthorized, nil, storetest.NotApplied, 0},
		{403, metav1.StatusReasonForbidden, nil, storetest.NotApplied, 0}, // it was allowed before
		{400, metav1.StatusReasonBadRequest, nil, storetest.Permanent, 0},
		{413, metav1.StatusReasonRequestEntityTooLarge, nil, storetest.Permanent, 0},
		{422, metav1.StatusReasonInvalid, nil, storetest.Permanent, 0},
		{500, metav1.StatusReasonInternalError, later, storetest.Unknown, 0},
		{503, metav1.StatusReasonServiceUnavailable, later, storetest.Unknown, 0},
		{504, metav1.StatusReasonTimeout, nil, storetest.Unknown, 0},
	} {
		w.set(answer(c.status, c.header, c.reason))
		w.seen.Store(0)
		_, err := s.CompareAndSwap(t.Context(), "a", held.Version, storetest.Held(7, "leader"))
		if got := storetest.OutcomeOf(err); got != c.want || tenure.RetryAfter(err) != c.wait {
			t.Errorf("%d: the outcome is %s, with a wait of %v, want %s and %v: %v",
				c.status, got, tenure.RetryAfter(err), c.want, c.wait, err)
		}
		if n := w.seen.Load(); n != 1 {
			t.Errorf("%d: %d requests were sent, want one", c.status, n)
		}
	}
}

// A server that is away has got nothing.
func TestConnectionIsRefused(t *testing.T) {
	k := shared.Server(t)
	s, w := wired(t, k, newNamespace(t, k))
	held := storetest.Swap(t, s, "a", "", storetest.Held(7, "leader"))
	nobody := testserver.Addr(testserver.Port(t))
	w.set(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		request.URL.Host = nobody
		return next.RoundTrip(request)
	})
	_, err := s.CompareAndSwap(t.Context(), "a", held.Version, storetest.Held(7, "leader"))
	storetest.Want(t, storetest.NotApplied, err)
	_, err = s.CompareAndSwap(t.Context(), "b", "", storetest.Held(7, "leader"))
	storetest.Want(t, storetest.NotApplied, err)
}

// A Lease that was deleted is not made anew by who updates it, and one that was made anew is another one.
func TestUpdateOfADeletedLease(t *testing.T) {
	s := newStore(t)
	held := storetest.Swap(t, s, "a", "", storetest.Held(7, "leader"))
	if err := s.leases.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := s.CompareAndSwap(t.Context(), "a", held.Version, storetest.Held(7, "leader"))
	storetest.Want(t, storetest.Conflict, err)
	if got := storetest.Load(t, s, "a"); got.Exists() {
		t.Errorf("the record is there again: %+v", got)
	}
}

// What others have put into the Lease stays.
func TestMetadataOfOthersStays(t *testing.T) {
	s := newStore(t)
	held := storetest.Swap(t, s, "a", "", storetest.Held(7, "leader"))
	current, err := s.leases.Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	current.Labels, current.Annotations["theirs"] = map[string]string{"app": "billing"}, "stays"
	if _, err := s.leases.Update(t.Context(), current, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	labelled := storetest.Load(t, s, "a")
	if labelled.Version == held.Version || labelled.Record.Session != held.Record.Session {
		t.Errorf("a label has made %+v of %+v", labelled, held)
	}
	storetest.Swap(t, s, "a", labelled.Version, storetest.Held(8, "other"))
	after, err := s.leases.Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil || after.Labels["app"] != "billing" || after.Annotations["theirs"] != "stays" {
		t.Errorf("after the swap the Lease is %+v, %v", after, err)
	}
}

// A namespace that is not there is no place to try again.
func TestNamespaceIsMissing(t *testing.T) {
	k := shared.Server(t)
	s := openStore(t, k, k.Addr, "nowhere", testserver.KubernetesToken)
	_, err := s.CompareAndSwap(t.Context(), "a", "", storetest.Held(7, "leader"))
	if !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), "make the namespace first") {
		t.Error(err)
	}
}
