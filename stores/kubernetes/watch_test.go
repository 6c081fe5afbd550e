package kubernetes

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

func watching(request *http.Request) bool { return request.URL.Query().Get("watch") != "" }

// gone is a meddle that has forgotten the resource versions from which watches go on: by a status, or by an event.
func gone(byEvent bool) meddle {
	const status = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`
	return func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if !watching(request) {
			return next.RoundTrip(request)
		}
		code, text := http.StatusGone, status
		if byEvent {
			code, text = http.StatusOK, `{"type":"ERROR","object":`+status+`}`
		}
		return &http.Response{
			StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
			Body: io.NopCloser(strings.NewReader(text)),
		}, nil
	}
}

// A watch that cannot go on from where it was says so, and begins anew with the current state.
func TestResourceVersionIsGone(t *testing.T) {
	k := shared.Server(t)
	for name, byEvent := range map[string]bool{"by status": false, "by event": true} {
		t.Run(name, func(t *testing.T) {
			s, w := wired(t, k, newNamespace(t, k))
			w.set(gone(byEvent))
			deliveries := storetest.Watch(t, s, "a")
			storetest.Await(t, deliveries, "the interruption", storetest.Failed)
			w.meddle.Store(nil)
			held := storetest.Swap(t, s, "a", "", storetest.Held(7, "leader"))
			storetest.Await(t, deliveries, "the record", storetest.At(held.Version))
		})
	}
}

// The API server ends every watch after a while. That is no interruption, and nothing is lost in between.
func TestWatchEndsByItself(t *testing.T) {
	k := shared.Server(t)
	s, w := wired(t, k, newNamespace(t, k))
	var lists, watches int
	ended := make(chan struct{}, 100)
	w.set(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if !watching(request) {
			if strings.HasSuffix(request.URL.Path, "/leases") && request.Method == http.MethodGet {
				lists++
			}
			return next.RoundTrip(request)
		}
		watches++
		query := request.URL.Query()
		query.Set("timeoutSeconds", "1")
		request.URL.RawQuery = query.Encode()
		ended <- struct{}{}
		return next.RoundTrip(request)
	})
	deliveries := storetest.Watch(t, s, "a")
	held := storetest.Swap(t, s, "a", "", storetest.Held(7, "leader"))
	for range 4 {
		<-ended
		held = storetest.Swap(t, s, "a", held.Version, storetest.Held(7, "leader"))
	}
	storetest.Await(t, deliveries, "the last record", func(d storetest.Delivery) bool {
		if d.Err != nil {
			t.Fatalf("the watch was interrupted: %v", d.Err)
		}
		return d.Snapshot.Version == held.Version
	})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if lists != 1 || watches < 4 {
		t.Errorf("%d lists and %d watches were asked for", lists, watches)
	}
}

// As long as one election is watched, that Lease alone is asked for; with a second one all are, and the first is told
// nothing of it.
func TestScopeOfTheWatch(t *testing.T) {
	k := shared.Server(t)
	s, w := wired(t, k, newNamespace(t, k))
	selectors := make(chan url.Values, 100)
	w.set(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if watching(request) {
			selectors <- request.URL.Query()
		}
		return next.RoundTrip(request)
	})
	storetest.Swap(t, s, "b", "", storetest.Held(9, "other"))
	first := storetest.Watch(t, s, "a")
	storetest.Await(t, first, "the absence", storetest.At(""))
	if got := (<-selectors).Get("fieldSelector"); got != "metadata.name=a" {
		t.Fatalf("the first watch is of %q", got)
	}
	second := storetest.Watch(t, s, "b")
	if d := storetest.Await(t, second, "a state", func(storetest.Delivery) bool { return true }); d.Snapshot.Record.Token != 9 {
		t.Errorf("the second watch begins with %+v", d)
	}
	if got := (<-selectors).Get("fieldSelector"); got != "" {
		t.Errorf("the second watch is of %q", got)
	}
	held := storetest.Swap(t, s, "a", "", storetest.Held(7, "leader"))
	d := storetest.Await(t, first, "the record", func(d storetest.Delivery) bool { return d.Err != nil || d.Snapshot.Exists() })
	if d.Err != nil || d.Snapshot.Version != held.Version {
		t.Errorf("the first watch was told %+v", d)
	}
}

// An API server that has just started forbids for a moment what it allows. Candidates are told of changes again soon
// after that, in several elections as in one.
func TestWatchIsRefusedForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := wired(t, &testserver.Kubernetes{Addr: "nowhere"}, "default")
		var last atomic.Pointer[io.PipeWriter]
		w.set(serving(&last))
		a, b := storetest.Watch(t, s, "a"), storetest.Watch(t, s, "b")
		storetest.Await(t, a, "the absence", storetest.At(""))
		storetest.Await(t, b, "the absence", storetest.At(""))

		for range 2 { // what was refused before counts no more when a watch has stood
			synctest.Wait()
			w.set(answer(http.StatusForbidden, nil, metav1.StatusReasonForbidden))
			_ = last.Load().Close()
			storetest.Await(t, b, "the refusal", storetest.Failed)
			const moment = time.Second
			time.Sleep(moment)
			w.set(serving(&last))
			allowed := time.Now()
			storetest.Await(t, b, "the absence", storetest.At(""))
			if took := time.Since(allowed); took > 2*moment {
				t.Errorf("refused for %v, a watch stands %v later", moment, took)
			}
			time.Sleep(time.Minute)
		}
	})
}

// What is not allowed for good is asked for rarely.
func TestWatchIsRefusedForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := wired(t, &testserver.Kubernetes{Addr: "nowhere"}, "default")
		var asked atomic.Int64
		refuse := answer(http.StatusForbidden, nil, metav1.StatusReasonForbidden)
		w.set(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
			asked.Add(1)
			return refuse(request, next)
		})
		storetest.Await(t, storetest.Watch(t, s, "a"), "the refusal", storetest.Failed)
		time.Sleep(time.Minute)
		before := asked.Load()
		time.Sleep(10 * time.Minute)
		if n := asked.Load() - before; n < 10 || n > 21 {
			t.Errorf("it was asked for %d times in ten minutes", n)
		}
	})
}

// serving is a meddle that is an API server without any Leases. What it writes to the last watch can be ended.
func serving(last *atomic.Pointer[io.PipeWriter]) meddle {
	missing := answer(http.StatusNotFound, nil, metav1.StatusReasonNotFound)
	return func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		response := &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		}
		switch {
		case watching(request):
			var stream *io.PipeWriter
			response.Body, stream = io.Pipe()
			context.AfterFunc(request.Context(), func() { _ = stream.CloseWithError(request.Context().Err()) })
			last.Store(stream)
		case strings.HasSuffix(request.URL.Path, "/leases"):
			response.Body = io.NopCloser(strings.NewReader(
				`{"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","metadata":{"resourceVersion":"5"},"items":[]}`))
		default:
			return missing(request, next)
		}
		return response, nil
	}
}

// role lets a user do some things with Leases.
func role(t *testing.T, k *testserver.Kubernetes, namespace, user string, verbs ...string) {
	t.Helper()
	const api = "/apis/rbac.authorization.k8s.io/v1/namespaces/"
	rules := `[{"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":["` +
		strings.Join(verbs, `","`) + `"]}]`
	for path, object := range map[string]string{
		"/roles": `{"metadata":{"name":"tenure"},"rules":` + rules + `}`,
		"/rolebindings": `{"metadata":{"name":"tenure"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role",` +
			`"name":"tenure"},"subjects":[{"kind":"User","name":"` + user + `"}]}`,
	} {
		if err := k.Post(api+namespace+path, object); err != nil {
			t.Fatal(err)
		}
	}
}

// allowed opens a store as a user who may do some things, as soon as the API server knows of it.
func allowed(t *testing.T, k *testserver.Kubernetes, namespace string, verbs ...string) *Store {
	t.Helper()
	const user = "alice"
	role(t, k, namespace, user, verbs...)
	address := "kubernetes://" + namespace + "?kubeconfig=" + k.Kubeconfig(k.Addr, testserver.KubernetesUser+user)
	var s *Store
	storetest.Eventually(t, "the role is known", func() (open bool) {
		var err error
		s, err = Open(t.Context(), address)
		return err == nil
	})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Without the right to watch candidates poll, and whoever asks is told.
func TestRightToWatchIsMissing(t *testing.T) {
	k := shared.Server(t)
	s := allowed(t, k, newNamespace(t, k), "get", "create", "update")
	d := storetest.Await(t, storetest.Watch(t, s, "a"), "the refusal", storetest.Failed)
	if !strings.Contains(d.Err.Error(), "forbidden") {
		t.Error(d.Err)
	}
	g, err := s.Guarantee(t.Context())
	if err != nil || g.Grade != tenure.GradeExclusive || !mentions(g.Reasons, "changes are not pushed") {
		t.Errorf("%+v, %v", g, err)
	}
	f := fleet.New(t)
	defer f.Check()
	stop := f.Stand(s, "one")
	first := f.Next()
	f.Stand(s, "two")
	stop()
	if second := f.Next(); second.Token <= first.Token {
		t.Errorf("token %d follows %d", second.Token, first.Token)
	}
}

// What the README asks for is enough, and nothing else is allowed.
func TestRightsOfTheREADMEAreEnough(t *testing.T) {
	k := shared.Server(t)
	namespace := newNamespace(t, k)
	s := allowed(t, k, namespace, "get", "create", "update", "list", "watch")
	storetest.Eventually(t, "the rights are known", func() bool {
		g, err := s.Guarantee(t.Context())
		return err == nil && !mentions(g.Reasons, "created") && !mentions(g.Reasons, "pushed")
	})
	f := fleet.New(t)
	defer f.Check()
	stop := f.Stand(s, "one", tenure.WithTTL(time.Minute))
	first := f.Next()
	f.Stand(s, "two", tenure.WithTTL(time.Minute))
	f.Known(first)
	stop()
	f.Next() // within the minute: it is told
	if _, err := s.leases.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	if err := s.leases.Delete(t.Context(), fleet.Election, metav1.DeleteOptions{}); err == nil {
		t.Error("the user may delete, and so proves nothing")
	}
}

// Who may not even read ends with what the API server says.
func TestRightToReadIsMissing(t *testing.T) {
	k := shared.Server(t)
	_, err := Open(t.Context(), "kubernetes://default?kubeconfig="+k.Kubeconfig(k.Addr, testserver.KubernetesUser+"bob"))
	storetest.Want(t, storetest.Permanent, err)
	if !strings.Contains(err.Error(), `User "bob" cannot get resource "leases"`) {
		t.Error(err)
	}
}
