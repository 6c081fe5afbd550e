package deploytest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	authorization "k8s.io/api/authorization/v1"
	core "k8s.io/api/core/v1"
	network "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"

	"github.com/tenure-go/tenure/internal/testserver"
)

// checkAccount checks that a pod has an account and its token exactly if it is given rights, and that these are given to
// it; and that nothing but the sidecar has the token.
func checkAccount(t *testing.T, b *bundle, pod core.PodSpec) {
	t.Helper()
	name := pod.ServiceAccountName
	if account := b.accounts[name]; (name != "") != (account != nil) || len(b.accounts) > 1 {
		t.Errorf("the pod runs as %q, and the accounts are %v", name, b.accounts)
	} else if account != nil && (account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken) {
		t.Errorf("the token of %s is mounted into every container", name)
	}
	for _, binding := range b.bindings {
		ref, who := binding.RoleRef, binding.Subjects
		if ref.Kind != "Role" || b.roles[ref.Name] == nil || len(who) != 1 || who[0].Kind != "ServiceAccount" ||
			who[0].Name != name {
			t.Errorf("%s gives %v to %v", binding.Name, ref, who)
		}
	}
	if len(b.bindings) != len(b.accounts) || len(b.roles) != len(b.bindings) {
		t.Errorf("there are %d roles, %d bindings and %d accounts", len(b.roles), len(b.bindings), len(b.accounts))
	}
	if got := readersOf(pod, tokenVolume(pod)); name != "" && !slices.Equal(got, []string{"tenure"}) {
		t.Errorf("the token of the account is read by %q", got)
	}
}

// accountDir is where clients of Kubernetes look for the account of their pod.
const accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// tokenVolume is the volume with an account's token, the certificate and the namespace; empty if there is none.
func tokenVolume(pod core.PodSpec) string {
	for _, v := range pod.Volumes {
		if v.Projected == nil {
			continue
		}
		var files []string
		for _, s := range v.Projected.Sources {
			switch {
			case s.ServiceAccountToken != nil:
				files = append(files, s.ServiceAccountToken.Path)
			case s.ConfigMap != nil && s.ConfigMap.Name == "kube-root-ca.crt":
				files = append(files, s.ConfigMap.Items[0].Path)
			case s.DownwardAPI != nil && s.DownwardAPI.Items[0].FieldRef.FieldPath == "metadata.namespace":
				files = append(files, s.DownwardAPI.Items[0].Path)
			}
		}
		if slices.Equal(files, []string{"token", "ca.crt", "namespace"}) {
			return v.Name
		}
	}
	return ""
}

// readersOf are the containers that have a volume where the account is looked for.
func readersOf(pod core.PodSpec, volume string) (names []string) {
	for _, c := range containers(pod) {
		for _, m := range c.VolumeMounts {
			if m.Name == volume && m.MountPath == accountDir {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// collection is the path to which an object of a namespace is posted.
func collection(t *testing.T, namespace string, o object) string {
	t.Helper()
	const core1, rbac1 = "/api/v1", "/apis/rbac.authorization.k8s.io/v1"
	group, plural := "", ""
	switch o.(type) {
	case *core.ConfigMap:
		group, plural = core1, "configmaps"
	case *core.Secret:
		group, plural = core1, "secrets"
	case *core.Service:
		group, plural = core1, "services"
	case *core.ServiceAccount:
		group, plural = core1, "serviceaccounts"
	case *apps.Deployment:
		group, plural = "/apis/apps/v1", "deployments"
	case *policy.PodDisruptionBudget:
		group, plural = "/apis/policy/v1", "poddisruptionbudgets"
	case *network.NetworkPolicy:
		group, plural = "/apis/networking.k8s.io/v1", "networkpolicies"
	case *rbac.Role:
		group, plural = rbac1, "roles"
	case *rbac.RoleBinding:
		group, plural = rbac1, "rolebindings"
	default:
		t.Fatalf("where a %T is posted is not known", o)
	}
	return group + "/namespaces/" + namespace + "/" + plural
}

// cluster is a real API server, with namespaces of a test's own.
type cluster struct {
	*testserver.Kubernetes
	t *testing.T
}

// post makes an object, which the API server checks as strictly as it can.
func (c cluster) post(path string, o any) {
	c.t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.Post(path+"?fieldValidation=Strict", string(text)); err != nil {
		c.t.Error(err)
	}
}

// apply makes a namespace with all objects of a bundle.
func (c cluster) apply(namespace string, b *bundle) {
	c.t.Helper()
	c.post("/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": namespace}})
	for _, o := range b.objects {
		c.post(collection(c.t, namespace, o), o)
	}
}

// configuration is that of a client with an account's token, as KUBECONFIG names it.
func (c cluster) configuration(namespace, account string) string {
	c.t.Helper()
	return c.Kubeconfig(c.Addr, c.token(namespace, account))
}

func (c cluster) token(namespace, account string) string {
	c.t.Helper()
	path := "/api/v1/namespaces/" + namespace + "/serviceaccounts/" + account + "/token"
	text, err := c.Ask(c.t.Context(), http.MethodPost, path, testserver.KubernetesToken, "{}")
	var answer struct{ Status struct{ Token string } }
	if err == nil {
		err = json.Unmarshal([]byte(text), &answer)
	}
	if err != nil || answer.Status.Token == "" {
		c.t.Fatalf("the account %s gets no token: %v: %s", account, err, text)
	}
	return answer.Status.Token
}

// rights are what the API server says that an account may do in a namespace.
func (c cluster) rights(token, namespace string) []string {
	c.t.Helper()
	review := fmt.Sprintf(`{"spec": {"namespace": %q}}`, namespace)
	text, err := c.Ask(c.t.Context(), http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", token, review)
	var answer authorization.SelfSubjectRulesReview
	if err == nil {
		err = json.Unmarshal([]byte(text), &answer)
	}
	if err != nil || answer.Status.Incomplete {
		c.t.Fatalf("the rights are not known: %v: %s", err, text)
	}
	var all []string
	for _, r := range answer.Status.ResourceRules {
		all = append(all, describe(r.APIGroups, r.Resources, r.ResourceNames, r.Verbs))
	}
	for _, r := range answer.Status.NonResourceRules {
		all = append(all, describe(r.NonResourceURLs, r.Verbs))
	}
	slices.Sort(all)
	return all
}

// describe is a rule as one text.
func describe(parts ...[]string) string { return fmt.Sprint(parts) }

// TestAPIServerTakesTheManifests: no kind, field or value that it refuses.
func TestAPIServerTakesTheManifests(t *testing.T) {
	t.Parallel()
	c := cluster{testserver.StartKubernetes(t), t}
	for i, name := range bundles {
		c.apply(fmt.Sprintf("bundle-%d", i), readBundle(t, name))
	}
	t.Run("sidecars with their account lead", func(t *testing.T) {
		b := readBundle(t, "leases")
		namespace := fmt.Sprintf("bundle-%d", slices.Index(bundles, "leases"))
		path := c.configuration(namespace, b.deployment.Spec.Template.Spec.ServiceAccountName)
		store := b.secrets["billing-tenure"].StringData["store"]
		if store != "kubernetes://" {
			t.Fatalf("the store is %s", store) // in the pod's own namespace, of which there is none here
		}
		store += namespace + "?kubeconfig=" + path
		eventually(t, "the API server knows the role", func() bool {
			_, _, code := tenure(t, nil, "--store", store, "list")
			return code == 0
		})
		checkServes(t, b, store, "TENURE_STORE="+store)
	})
	t.Run("the rights", func(t *testing.T) { checkRights(t, cluster{c.Kubernetes, t}) })
}

// elsewhere is a namespace in which no bundle is applied.
const elsewhere = "default"

// checkRights checks that the rights suffice for all that a store does but prune, that none of them can be spared, and
// that the account has no others.
func checkRights(t *testing.T, c cluster) {
	t.Helper()
	const namespace = "rights"
	b := readBundle(t, "leases")
	c.apply(namespace, b)
	account := b.deployment.Spec.Template.Spec.ServiceAccountName
	e := examination{t: t, store: "kubernetes://" + namespace + "?kubeconfig=" + c.configuration(namespace, account)}
	eventually(t, "the rights suffice", e.content)

	role := b.roles[b.bindings[0].RoleRef.Name]
	if len(role.Rules) != 1 {
		t.Fatalf("the role has %d rules", len(role.Rules))
	}
	given := role.Rules[0]
	c.post("/api/v1/namespaces/"+namespace+"/serviceaccounts", map[string]any{"metadata": map[string]any{"name": "nobody"}})
	own, nobody := c.token(namespace, account), c.token(namespace, "nobody")
	want := append(c.rights(nobody, namespace), describe(given.APIGroups, given.Resources, given.ResourceNames, given.Verbs))
	slices.Sort(want)
	if got := c.rights(own, namespace); !slices.Equal(got, want) {
		t.Errorf("the account may %q, want %q", got, want)
	}
	if got, want := c.rights(own, elsewhere), c.rights(nobody, elsewhere); !slices.Equal(got, want) {
		t.Errorf("elsewhere the account may %q, and one without any role %q", got, want)
	}
	for _, verb := range given.Verbs {
		c.forbid(namespace, role, verb)
		eventually(t, "the right to "+verb+" is missed", func() bool { return !e.content() })
		if !strings.Contains(e.said, "cannot "+verb+" resource") {
			t.Errorf("without the right to %s it says: %s", verb, e.said)
		}
	}
}

// forbid takes one verb out of a role.
func (c cluster) forbid(namespace string, role *rbac.Role, verb string) {
	c.t.Helper()
	less := role.DeepCopy()
	less.Rules[0].Verbs = slices.DeleteFunc(less.Rules[0].Verbs, func(v string) bool { return v == verb })
	text, err := json.Marshal(less)
	if err == nil {
		path := collection(c.t, namespace, role) + "/" + role.Name
		_, err = c.Ask(c.t.Context(), http.MethodPut, path, testserver.KubernetesToken, string(text))
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// examination is what the command finds out about a store.
type examination struct {
	t     *testing.T
	store string
	said  string // the last time
}

// content examines the store, and reports whether nothing is wrong or forbidden.
func (e *examination) content() bool {
	e.t.Helper()
	out, errs, code := tenure(e.t, nil, "--store", e.store, "doctor", "--samples", "1")
	e.said = out + errs
	return code == 0 && !strings.Contains(out, "forbidden")
}
