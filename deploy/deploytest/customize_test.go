package deploytest

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
	strict "sigs.k8s.io/yaml"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kustomization is what is used of kustomize. Its own library wants a newer Go than this repository; patches are merged
// by the code of the API server.
type kustomization struct {
	meta.TypeMeta `json:",inline"`
	Resources     []string `json:"resources"`
	Patches       []struct {
		Path string `json:"path"`
	} `json:"patches"`
}

func readKustomization(t *testing.T, dir string) (k kustomization) {
	t.Helper()
	if err := strict.UnmarshalStrict([]byte(read(t, filepath.Join(dir, "kustomization.yaml"))), &k); err != nil {
		t.Fatal(err)
	}
	return k
}

// files are those that it applies.
func (k kustomization) files() []string {
	files := slices.Clone(k.Resources)
	for _, p := range k.Patches {
		files = append(files, p.Path)
	}
	return files
}

// customize returns what is applied with a directory: that of a component with what it is a component of.
func customize(t *testing.T, dir string) (all []object) {
	t.Helper()
	k := readKustomization(t, dir)
	if k.Kind == "Component" {
		all = customize(t, filepath.Dir(dir))
	}
	for _, file := range k.Resources {
		all = append(all, readObjects(t, filepath.Join(dir, file))...)
	}
	for _, p := range k.Patches {
		for _, document := range documents(t, filepath.Join(dir, p.Path)) {
			patch(t, all, document)
		}
	}
	return all
}

// patch changes the object that a document names.
func patch(t *testing.T, all []object, document []byte) {
	t.Helper()
	change, err := decode(document)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(o object) bool {
		return reflect.TypeOf(o) == reflect.TypeOf(change) && o.GetName() == change.GetName()
	})
	if at < 0 {
		t.Fatalf("there is no %T %s to be patched", change, change.GetName())
	}
	before, err := json.Marshal(all[at])
	if err != nil {
		t.Fatal(err)
	}
	text, err := strict.YAMLToJSON(document)
	if err != nil {
		t.Fatal(err)
	}
	after, err := strategicpatch.StrategicMergePatch(before, text, change)
	if err != nil {
		t.Fatal(err)
	}
	if all[at], err = decode(after); err != nil {
		t.Fatal(err)
	}
}

// TestComponentIsOffered: whoever uncomments it in the kustomization gets what is tested here.
func TestComponentIsOffered(t *testing.T) {
	const offer = "# components:\n#   - leases\n"
	text := read(t, filepath.Join(manifests, "kustomization.yaml"))
	if len(text) < len(offer) || text[len(text)-len(offer):] != offer {
		t.Errorf("the kustomization does not end with %q", offer)
	}
}
