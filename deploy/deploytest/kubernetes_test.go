package deploytest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	network "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/yaml"
	strict "sigs.k8s.io/yaml"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const manifests = deployed + "/kubernetes"

// object is one document of a manifest.
type object interface{ meta.Object }

// kinds are those that the manifests may have, by apiVersion and kind.
var kinds = map[string]func() object{
	"v1 ConfigMap":                       func() object { return new(core.ConfigMap) },
	"v1 Secret":                          func() object { return new(core.Secret) },
	"v1 Service":                         func() object { return new(core.Service) },
	"v1 ServiceAccount":                  func() object { return new(core.ServiceAccount) },
	"apps/v1 Deployment":                 func() object { return new(apps.Deployment) },
	"policy/v1 PodDisruptionBudget":      func() object { return new(policy.PodDisruptionBudget) },
	"networking.k8s.io/v1 NetworkPolicy": func() object { return new(network.NetworkPolicy) },

	"rbac.authorization.k8s.io/v1 Role":        func() object { return new(rbac.Role) },
	"rbac.authorization.k8s.io/v1 RoleBinding": func() object { return new(rbac.RoleBinding) },
}

// decode reads one document, and refuses fields that its kind does not have, and such as are given twice.
func decode(document []byte) (object, error) {
	var kind meta.TypeMeta
	if err := strict.Unmarshal(document, &kind); err != nil {
		return nil, err
	}
	of, ok := kinds[kind.APIVersion+" "+kind.Kind]
	if !ok {
		return nil, fmt.Errorf("there is no %q in %q", kind.Kind, kind.APIVersion)
	}
	o := of()
	return o, strict.UnmarshalStrict(document, o)
}

// bundle is what a kustomization applies.
type bundle struct {
	objects    []object
	deployment *apps.Deployment
	services   []*core.Service
	budgets    []*policy.PodDisruptionBudget
	policies   []*network.NetworkPolicy
	configs    map[string]*core.ConfigMap
	secrets    map[string]*core.Secret
	accounts   map[string]*core.ServiceAccount
	roles      map[string]*rbac.Role
	bindings   []*rbac.RoleBinding
}

func (b *bundle) add(o object) {
	b.objects = append(b.objects, o)
	switch o := o.(type) {
	case *apps.Deployment:
		b.deployment = o
	case *core.Service:
		b.services = append(b.services, o)
	case *policy.PodDisruptionBudget:
		b.budgets = append(b.budgets, o)
	case *network.NetworkPolicy:
		b.policies = append(b.policies, o)
	case *core.ConfigMap:
		b.configs[o.Name] = o
	case *core.Secret:
		b.secrets[o.Name] = o
	case *core.ServiceAccount:
		b.accounts[o.Name] = o
	case *rbac.Role:
		b.roles[o.Name] = o
	case *rbac.RoleBinding:
		b.bindings = append(b.bindings, o)
	}
}

// bundles are the directories with a kustomization.
var bundles = []string{"", "leader-only", "leases"}

func readBundle(t *testing.T, name string) *bundle {
	t.Helper()
	b := &bundle{
		configs: map[string]*core.ConfigMap{}, secrets: map[string]*core.Secret{},
		accounts: map[string]*core.ServiceAccount{}, roles: map[string]*rbac.Role{},
	}
	for _, o := range customize(t, filepath.Join(manifests, name)) {
		b.add(o)
	}
	if b.deployment == nil {
		t.Fatalf("%s deploys nothing", name)
	}
	return b
}

func readObjects(t *testing.T, path string) (all []object) {
	t.Helper()
	for _, document := range documents(t, path) {
		o, err := decode(document)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, o)
	}
	return all
}

// documents are the parts of a manifest.
func documents(t *testing.T, path string) (all [][]byte) {
	t.Helper()
	reader := yaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(read(t, path))))
	defer reader.Close()
	for {
		document := make([]byte, 1<<16)
		n, err := reader.Read(document)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, bytes.TrimSpace(document[:n]))
	}
}

// TestManifestsAreOfTheirKinds: every document has a kind that there is, and no field that this does not have; names are
// names; nobody sets a namespace, which is for whoever applies it; and every file is applied.
func TestManifestsAreOfTheirKinds(t *testing.T) {
	for _, name := range bundles {
		dir := filepath.Join(manifests, name)
		used := readKustomization(t, dir).files()
		files, err := filepath.Glob(dir + "/*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if base := filepath.Base(path); base != "kustomization.yaml" && !slices.Contains(used, base) {
				t.Errorf("%s is not in its kustomization", path)
			} else if base != "kustomization.yaml" {
				checkObjects(t, path)
			}
		}
	}
}

func checkObjects(t *testing.T, path string) {
	t.Helper()
	objects := readObjects(t, path)
	if len(objects) == 0 {
		t.Errorf("%s has no document", path)
	}
	for _, o := range objects {
		if errs := validation.IsDNS1123Subdomain(o.GetName()); len(errs) > 0 || o.GetNamespace() != "" {
			t.Errorf("%s: the name %q in the namespace %q: %v", path, o.GetName(), o.GetNamespace(), errs)
		}
		for key, value := range o.GetLabels() {
			if errs := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(errs) > 0 {
				t.Errorf("%s: the label %s=%s: %v", path, key, value, errs)
			}
		}
	}
}

// containers are all of a pod, as one list.
func containers(pod core.PodSpec) []core.Container {
	return slices.Concat(pod.InitContainers, pod.Containers)
}

// eachPod checks the pods of all bundles.
func eachPod(t *testing.T, check func(t *testing.T, b *bundle, pod core.PodSpec)) {
	for _, name := range bundles {
		t.Run(strings.TrimPrefix(name+" pods", " "), func(t *testing.T) {
			b := readBundle(t, name)
			check(t, b, b.deployment.Spec.Template.Spec)
		})
	}
}

// TestSelectorsMatch: services, budgets and policies mean the pods of the deployment, and it finds them itself.
func TestSelectorsMatch(t *testing.T) {
	eachPod(t, func(t *testing.T, b *bundle, pod core.PodSpec) {
		selectors := map[string]*meta.LabelSelector{"deployment": b.deployment.Spec.Selector}
		for _, s := range b.services {
			selectors["service "+s.Name] = &meta.LabelSelector{MatchLabels: s.Spec.Selector}
		}
		for _, p := range b.budgets {
			selectors["budget "+p.Name] = p.Spec.Selector
		}
		for _, p := range b.policies {
			selectors["policy "+p.Name] = &p.Spec.PodSelector
		}
		for _, c := range pod.TopologySpreadConstraints {
			selectors["spread over "+c.TopologyKey] = c.LabelSelector
		}
		for what, s := range selectors {
			selector, err := meta.LabelSelectorAsSelector(s)
			if err != nil || selector.Empty() || !selector.Matches(labels.Set(b.deployment.Spec.Template.Labels)) {
				t.Errorf("the %s selects %v, which are not the pods: %v", what, selector, err)
			}
		}
	})
}

// port finds the port of a pod that a name or a number means; 0 if none.
func port(of []core.Container, p intstr.IntOrString) int32 {
	for _, c := range of {
		for _, open := range c.Ports {
			if p.Type == intstr.String && open.Name == p.StrVal || p.Type == intstr.Int && open.ContainerPort == p.IntVal {
				return open.ContainerPort
			}
		}
	}
	return 0
}

// TestPortsExist: probes ask a port of their own container, services and policies one of the application.
func TestPortsExist(t *testing.T) {
	eachPod(t, func(t *testing.T, b *bundle, pod core.PodSpec) {
		names := map[string]bool{}
		for _, c := range containers(pod) {
			for _, p := range c.Ports {
				if errs := validation.IsValidPortName(p.Name); len(errs) > 0 || names[p.Name] {
					t.Errorf("the port %q of %s: %v", p.Name, c.Name, errs)
				}
				names[p.Name] = true
			}
			for _, probe := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
				if probe != nil && (probe.HTTPGet == nil || port([]core.Container{c}, probe.HTTPGet.Port) == 0) {
					t.Errorf("%s is probed at %+v, where it does not listen", c.Name, probe.ProbeHandler)
				}
			}
			if c.LivenessProbe == nil {
				t.Errorf("nobody asks whether %s lives", c.Name)
			}
		}
		for _, s := range b.services {
			for _, p := range s.Spec.Ports {
				if port(pod.Containers, p.TargetPort) == 0 {
					t.Errorf("the service %s leads to %v, where no application listens", s.Name, p.TargetPort)
				}
			}
		}
		for _, p := range b.policies {
			for _, rule := range p.Spec.Ingress {
				for _, open := range rule.Ports {
					if open.Port == nil || port(pod.Containers, *open.Port) == 0 {
						t.Errorf("the policy %s opens %v, where no application listens", p.Name, open.Port)
					}
				}
			}
		}
	})
}

// TestReferencesResolve: variables and volumes come from config maps and secrets, and keys in them, that are applied too;
// and every volume is mounted.
func TestReferencesResolve(t *testing.T) {
	eachPod(t, func(t *testing.T, b *bundle, pod core.PodSpec) {
		volumes := map[string]bool{}
		for _, v := range pod.Volumes {
			volumes[v.Name] = false
			if v.ConfigMap != nil && b.configs[v.ConfigMap.Name] == nil {
				t.Errorf("the volume %s is of the config map %s", v.Name, v.ConfigMap.Name)
			}
			if v.Secret != nil {
				for _, item := range v.Secret.Items {
					checkSecret(t, b, v.Secret.SecretName, item.Key)
				}
			}
		}
		for _, c := range containers(pod) {
			for _, v := range c.Env {
				if v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil {
					checkSecret(t, b, v.ValueFrom.SecretKeyRef.Name, v.ValueFrom.SecretKeyRef.Key)
				}
				if v.Name == "TENURE_ID" && (v.ValueFrom == nil || v.ValueFrom.FieldRef.FieldPath != "metadata.name") {
					t.Errorf("%s has not the ID of its pod", c.Name)
				}
			}
			for _, m := range c.VolumeMounts {
				if _, ok := volumes[m.Name]; !ok {
					t.Errorf("%s mounts %s, which is no volume", c.Name, m.Name)
				}
				volumes[m.Name] = true
			}
		}
		for name, mounted := range volumes {
			if !mounted {
				t.Errorf("nobody mounts %s", name)
			}
		}
		checkAccount(t, b, pod)
	})
}

func checkSecret(t *testing.T, b *bundle, name, key string) {
	t.Helper()
	if s := b.secrets[name]; s == nil || s.StringData[key] == "" {
		t.Errorf("there is no key %q in a secret %q", key, name)
	}
}

// TestPodsAreConfined as the restricted profile of Kubernetes' pod security standards has it, and with a root file system
// that is read-only.
func TestPodsAreConfined(t *testing.T) {
	eachPod(t, func(t *testing.T, _ *bundle, pod core.PodSpec) {
		s := pod.SecurityContext
		if s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.RunAsUser == nil || *s.RunAsUser == 0 ||
			s.SeccompProfile == nil || s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
			t.Errorf("the pod runs as %+v", s)
		}
		if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
			t.Error("the pod has an account that it does not need")
		}
		for _, c := range containers(pod) {
			s := c.SecurityContext
			if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.ReadOnlyRootFilesystem == nil ||
				!*s.ReadOnlyRootFilesystem || s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) ||
				s.Privileged != nil || s.RunAsUser != nil || s.RunAsNonRoot != nil || s.SeccompProfile != nil {
				t.Errorf("%s runs as %+v", c.Name, s)
			}
			if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
				t.Errorf("%s has no bounds: %+v", c.Name, c.Resources)
			}
		}
	})
}

// sidecarOf returns the container of the sidecar.
func sidecarOf(t *testing.T, pod core.PodSpec) core.Container {
	t.Helper()
	for _, c := range pod.InitContainers {
		if c.Name == "tenure" {
			if c.RestartPolicy == nil || *c.RestartPolicy != core.ContainerRestartPolicyAlways {
				t.Fatal("the sidecar is none that Kubernetes ends after the application")
			}
			return c
		}
	}
	t.Fatal("there is no sidecar")
	return core.Container{}
}

// TestManifestServes runs the sidecar with the arguments, the configuration, the token and the variables of the manifest,
// and asks it what the kubelet and the application would ask.
func TestManifestServes(t *testing.T) {
	t.Parallel()
	store := "file://" + filepath.Join(t.TempDir(), "elections")
	checkServes(t, readBundle(t, ""), store, "TENURE_STORE="+store)
}

// checkServes does so with further variables, which name a store.
func checkServes(t *testing.T, b *bundle, store string, env ...string) {
	t.Helper()
	pod := b.deployment.Spec.Template.Spec
	c := sidecarOf(t, pod)
	dir, free := t.TempDir(), freePort(t)
	secret := b.secrets["billing-tenure"].StringData
	var config string
	for _, v := range pod.Volumes {
		switch {
		case v.ConfigMap != nil:
			config = b.configs[v.ConfigMap.Name].Data["serve.json"]
		case v.Secret != nil:
			mode := os.FileMode(*v.Secret.DefaultMode)
			for _, item := range v.Secret.Items {
				write(t, filepath.Join(dir, mountOf(t, c, v.Name), item.Path), secret[item.Key], mode)
			}
		}
	}
	config = strings.ReplaceAll(config, "/etc/", dir+"/etc/")
	own := fmt.Sprintf("0.0.0.0:%d", port([]core.Container{c}, c.StartupProbe.HTTPGet.Port))
	if !strings.Contains(config, own) {
		t.Fatalf("it is probed at %s, but listens elsewhere: %s", own, config)
	}
	write(t, filepath.Join(dir, mountOf(t, c, "config"), "serve.json"), strings.Replace(config, own, "0.0.0.0:"+free, 1), 0o600)

	args := []string{command(t)}
	for _, a := range c.Args {
		args = append(args, strings.ReplaceAll(a, "/etc/", dir+"/etc/"))
	}
	p := start(t, append(env, "TENURE_ID=billing-5d-x"), args...)
	base := "http://127.0.0.1:" + free
	for _, probe := range []*core.Probe{c.StartupProbe, c.LivenessProbe} {
		eventually(t, "the probe succeeds", func() bool {
			_, err := ask(t, base+probe.HTTPGet.Path)
			return err == nil
		})
	}
	url, token := applicationAsks(t, pod, secret)
	url = strings.Replace(url, "http://127.0.0.1:8732", base, 1)
	if _, err := ask(t, url); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("without the token the answer is %v", err)
	}
	eventually(t, "the application is told that it leads", func() bool {
		body, err := askAs(t, url, token)
		return err == nil && strings.Contains(body, `"leading":true`) && strings.Contains(body, `"id":"billing-5d-x"`) &&
			strings.Contains(body, `"trust_until_boottime_ms"`)
	})
	if code := p.terminate(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	if s := look(t, store, "billing"); s.State != "vacant" {
		t.Errorf("afterwards: %+v", s)
	}
}

func mountOf(t *testing.T, c core.Container, volume string) string {
	t.Helper()
	for _, m := range c.VolumeMounts {
		if m.Name == volume {
			return m.MountPath
		}
	}
	t.Fatalf("%s does not mount %s", c.Name, volume)
	return ""
}

// applicationAsks returns what the application is told about its sidecar.
func applicationAsks(t *testing.T, pod core.PodSpec, secret map[string]string) (url, token string) {
	t.Helper()
	for _, v := range pod.Containers[0].Env {
		switch v.Name {
		case "ELECTION_URL":
			url = v.Value
		case "ELECTION_TOKEN":
			token = secret[v.ValueFrom.SecretKeyRef.Key]
		}
	}
	return url, token
}

// TestGraceSuffices: the application's time to stop and the sidecar's own, which comes after, fit into that of the pod.
// The rest is the application's.
func TestGraceSuffices(t *testing.T) {
	b := readBundle(t, "")
	const longestTTL = 10 * time.Second
	if !strings.Contains(b.configs["billing-tenure"].Data["serve.json"], `"ttl": "10s"`) {
		t.Fatal("the TTL is another one")
	}
	grace := time.Duration(*b.deployment.Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second
	if least := 3*longestTTL + 10*time.Second + 10*time.Second; grace < least {
		t.Errorf("the pod has %v, and the sidecar with 10 s of the application may need %v", grace, least)
	}
}

// TestRolloutsProceed: where only the leader is ready, a bound on the unavailable would stop a rollout for ever, and keep
// the leader from being evicted.
func TestRolloutsProceed(t *testing.T) {
	b := readBundle(t, "leader-only")
	if probe := b.deployment.Spec.Template.Spec.Containers[0].ReadinessProbe; probe.HTTPGet.Path != "/leader" {
		t.Errorf("it is ready by %s", probe.HTTPGet.Path)
	}
	rolling := b.deployment.Spec.Strategy.RollingUpdate
	if rolling == nil || rolling.MaxUnavailable == nil || rolling.MaxUnavailable.String() != "100%" || len(b.budgets) > 0 {
		t.Errorf("got %+v and %d budgets", rolling, len(b.budgets))
	}
	if n := *readBundle(t, "").deployment.Spec.Replicas; n < 2 {
		t.Errorf("with %d replicas nobody stands by", n)
	}
}

// TestManifestStoresAreKnown to the command.
func TestManifestStoresAreKnown(t *testing.T) {
	unreachable := filepath.Join(t.TempDir(), "kubeconfig") // in a pod there is none
	write(t, unreachable, `{"clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1:1"}}],
"contexts": [{"name": "a", "context": {"cluster": "a"}}], "current-context": "a"}`, 0o600)
	for _, name := range bundles {
		for _, s := range readBundle(t, name).secrets {
			checkStore(t, s.StringData["store"], "KUBECONFIG="+unreachable)
		}
	}
}
