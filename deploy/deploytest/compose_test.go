package deploytest

import (
	"slices"
	"strings"
	"testing"

	strict "sigs.k8s.io/yaml"

	"github.com/tenure-go/tenure/internal/testserver"
)

// composition is what compose.yaml uses of the Compose specification.
type composition struct {
	Name     string              `json:"name"`
	Services map[string]*service `json:"services"`
}

type service struct {
	Image string `json:"image"`
	Build *struct {
		Context    string `json:"context"`
		Dockerfile string `json:"dockerfile"`
	} `json:"build"`
	Command     []string          `json:"command"`
	Environment map[string]string `json:"environment"`
	NetworkMode string            `json:"network_mode"`
	DependsOn   map[string]struct {
		Condition string `json:"condition"`
	} `json:"depends_on"`
	Healthcheck *struct {
		Test     []string `json:"test"`
		Interval string   `json:"interval"`
		Retries  int      `json:"retries"`
		Disable  bool     `json:"disable"`
	} `json:"healthcheck"`
	Restart         string   `json:"restart"`
	StopGracePeriod string   `json:"stop_grace_period"`
	ReadOnly        bool     `json:"read_only"`
	CapDrop         []string `json:"cap_drop"`
	SecurityOpt     []string `json:"security_opt"`
}

func readCompose(t *testing.T) composition {
	t.Helper()
	var c composition
	if err := strict.UnmarshalStrict([]byte(read(t, deployed+"/docker/compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCompose: services refer to one another by names that there are, and one waits for another's health only where that
// is checked.
func TestCompose(t *testing.T) {
	c := readCompose(t)
	for name, s := range c.Services {
		for on, how := range s.DependsOn {
			other := c.Services[on]
			switch {
			case other == nil:
				t.Errorf("%s depends on %s, which is not there", name, on)
			case how.Condition == "service_healthy" && (other.Healthcheck == nil || other.Healthcheck.Disable):
				t.Errorf("%s waits for the health of %s, which nobody checks", name, on)
			case !slices.Contains([]string{"service_healthy", "service_completed_successfully", "service_started"}, how.Condition):
				t.Errorf("%s waits for %s to be %s", name, on, how.Condition)
			}
		}
		if with, ok := strings.CutPrefix(s.NetworkMode, "service:"); ok && c.Services[with] == nil || !ok && s.NetworkMode != "" {
			t.Errorf("%s shares the network of %s", name, s.NetworkMode)
		}
	}
}

// TestComposeServes runs the commands of tenure in the composition, on a PostgreSQL server of the test: one sidecar leads,
// and the other follows when it ends.
func TestComposeServes(t *testing.T) {
	t.Parallel()
	c := readCompose(t)
	server := testserver.StartPostgres(t)
	store := c.Services["migrate"].Environment["TENURE_STORE"]
	if want := "postgres://" + c.Services["postgres"].Environment["POSTGRES_USER"] + ":" +
		c.Services["postgres"].Environment["POSTGRES_PASSWORD"] + "@postgres/" + c.Services["postgres"].Environment["POSTGRES_DB"]; !strings.HasPrefix(store, want+"?") {
		t.Errorf("the store is %s, but the server has %s", store, want)
	}
	env := []string{"TENURE_STORE=" + server.URL()}
	if _, errs, code := tenure(t, env, c.Services["migrate"].Command...); code != 0 {
		t.Fatalf("migrate ends with %d: %s", code, errs)
	}
	serve := func(name string) *process {
		if got := c.Services[name].Environment["TENURE_STORE"]; got != store {
			t.Errorf("the store of %s is %s", name, got)
		}
		args := append([]string{command(t)}, c.Services[name].Command...)
		return start(t, env, append(args, "--listen", "127.0.0.1:"+freePort(t), "--ttl", "5s")...)
	}
	first := serve("tenure-a")
	eventually(t, "a leads", func() bool { return look(t, server.URL(), "billing").Leader == "a" })
	serve("tenure-b")
	if code := first.terminate(); code != 0 {
		t.Errorf("a ends with %d", code)
	}
	eventually(t, "b follows", func() bool { return look(t, server.URL(), "billing").Leader == "b" })
}
