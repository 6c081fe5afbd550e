package kubernetes

import (
	"errors"
	"maps"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/fence"
)

// A leader looks at an object, is deposed, and writes: not over its successor, who has changed nothing but the mark.
// The objects are Leases, of which nobody elects by these.
func TestFence(t *testing.T) {
	k := shared.Server(t)
	objects := clientFor(t, k.Addr).Leases(newNamespace(t, k))
	fresh := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: "report", Annotations: map[string]string{"owner": "reports"},
	}}
	isFenced(t, fresh, 3)
	if _, err := objects.Create(t.Context(), fresh, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	read := func() *coordinationv1.Lease {
		got, err := objects.Get(t.Context(), "report", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	update := func(object *coordinationv1.Lease) error {
		_, err := objects.Update(t.Context(), object, metav1.UpdateOptions{})
		return err
	}

	deposed, successor := read(), read()
	isFenced(t, deposed, 3)
	isFenced(t, successor, 4)
	if err := update(successor); err != nil {
		t.Fatal(err)
	}
	if err := update(deposed); !apierrors.IsConflict(err) {
		t.Errorf("the write of a leader that looked before it was deposed: %v, want a conflict", err)
	}

	deposed = read()
	before := maps.Clone(deposed.Annotations)
	var stale *fence.StaleError
	if err := Fence(deposed, "reports", 3); !errors.As(err, &stale) || stale.Mark != 4 {
		t.Errorf("the deposed leader, once it has looked again: %v, want a StaleError with the mark 4", err)
	}
	if !maps.Equal(deposed.Annotations, before) || before["owner"] != "reports" {
		t.Errorf("the annotations are %v, after %v", deposed.Annotations, before)
	}
}

func isFenced(t *testing.T, object metav1.Object, token uint64) {
	t.Helper()
	if err := Fence(object, "reports", token); err != nil {
		t.Fatal(err)
	}
	owner, mark, err := fence.ReadMark(object.GetAnnotations())
	if owner != "reports" || mark != token || err != nil {
		t.Fatalf("the mark is %d of %q, %v; want %d", mark, owner, err, token)
	}
}

func TestFenceRefusesWhatItCannotGuard(t *testing.T) {
	for name, object := range map[string]metav1.ObjectMeta{
		"that was read and has no resource version": {Name: "report", UID: "1"},
		"of another election": {Name: "report", Annotations: map[string]string{
			fence.TokenKey: "1", fence.ElectionKey: "payroll",
		}},
	} {
		if err := Fence(&object, "reports", 9); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("an object %s: %v, want ErrConfig", name, err)
		}
	}
	for _, token := range []uint64{0, tenure.MaxToken + 1} {
		if err := Fence(&metav1.ObjectMeta{Name: "report"}, "reports", token); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("token %d: %v, want ErrConfig", token, err)
		}
	}
}
