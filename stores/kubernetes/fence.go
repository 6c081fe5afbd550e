package kubernetes

import (
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/fence"
)

// Fence marks an object of Kubernetes' API, of any kind, as written on behalf of the term with the token. The mark is
// in two annotations; the others stay as they are. Fence makes no request: read the object, change it, call Fence, and
// write it whole, by Create or Update. The API server refuses an update of an object that somebody has written since,
// so that no time between the two matters; read it again then, and begin anew. A patch that says nothing of the
// resource version, and server-side apply, are not guarded.
//
// If a term with a higher token has written the object the error is a [fence.StaleError], and the object is unchanged:
// it must not be written. The error wraps [tenure.ErrConfig] if the object belongs to another election, if no term can
// have the token, or if the object is one that was read but has no resource version: its update would not be refused.
func Fence(object metav1.Object, election string, token uint64) error {
	marked, err := marked(object, election, token)
	if err != nil {
		return fmt.Errorf("kubernetes: fencing %q: %w", object.GetName(), err)
	}
	object.SetAnnotations(marked)
	return nil
}

func marked(object metav1.Object, election string, token uint64) (map[string]string, error) {
	if object.GetUID() != "" && object.GetResourceVersion() == "" {
		return nil, fmt.Errorf("%w: it has lost its resource version: update the object that was read", tenure.ErrConfig)
	}
	present := object.GetAnnotations()
	others := maps.Clone(present)
	delete(others, fence.TokenKey)
	delete(others, fence.ElectionKey)
	return fence.Stamp(present, others, election, token)
}
