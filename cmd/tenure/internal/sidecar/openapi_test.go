package sidecar

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
)

// document is what the tests need of an OpenAPI description.
type document struct {
	OpenAPI    string                          `json:"openapi"`
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	ID         string                    `json:"operationId"`
	Parameters []map[string]any          `json:"parameters"`
	Security   *[]map[string][]string    `json:"security"`
	Responses  map[string]map[string]any `json:"responses"`
}

type schema struct {
	Properties map[string]struct {
		Enum []string `json:"enum"`
	} `json:"properties"`
	Required []string `json:"required"`
}

func readDescription(t *testing.T) (d document) {
	t.Helper()
	if err := json.Unmarshal(description, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDescriptionHasEveryRoute, and no other.
func TestDescriptionHasEveryRoute(t *testing.T) {
	t.Parallel()
	var described, served []string
	d := readDescription(t)
	for path, operations := range d.Paths {
		for method, op := range operations {
			described = append(described, strings.ToUpper(method)+" "+path)
			if want := strings.Count(path, "{"); want > 0 && len(op.Parameters) != want {
				t.Errorf("%s has %d parameters, want %d", path, len(op.Parameters), want)
			}
			wanted := []string{"403", "421"}
			if method == "post" {
				wanted = append(wanted, "400", "401", "404", "413", "415")
			}
			for _, status := range wanted {
				if op.Responses[status] == nil {
					t.Errorf("%s does not have the answer %s", op.ID, status)
				}
			}
		}
	}
	for _, r := range routes {
		path := strings.TrimSuffix(r.path, "{$}")
		served = append(served, r.method+" "+path)
		if op := d.Paths[path][strings.ToLower(r.method)]; r.open != (op.Security != nil) {
			t.Errorf("%s: open is %v, but its security is %v", r.path, r.open, op.Security)
		}
	}
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described are\n%s\nserved are\n%s", strings.Join(described, "\n"), strings.Join(served, "\n"))
	}
}

func TestReferencesOfTheDescriptionResolve(t *testing.T) {
	t.Parallel()
	var all map[string]any
	if err := json.Unmarshal(description, &all); err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`"\$ref": "#/components/(\w+)/(\w+)"`).FindAllStringSubmatch(string(description), -1)
	if len(found) == 0 {
		t.Fatal("there are no references")
	}
	for _, match := range found {
		kind, _ := all["components"].(map[string]any)[match[1]].(map[string]any)
		if kind[match[2]] == nil {
			t.Errorf("there is no %s %s", match[1], match[2])
		}
	}
}

// TestDescriptionHasEveryField of what is sent and read.
func TestDescriptionHasEveryField(t *testing.T) {
	t.Parallel()
	schemas := readDescription(t).Components.Schemas
	for name, v := range map[string]any{
		"Election": view{}, "Candidate": candidateView{}, "Change": changeEvent{}, "CampaignEvent": campaignEvent{},
		"Campaign": campaignRequest{}, "Wish": wish{}, "Transfer": transferWish{}, "PauseWish": pauseWish{},
		"Asked": asked{}, "Sidecar": overviewFirst{}, "Overview": overviewEvent{}, "PastChange": pastChange{},
		"PastAction": pastAction{}, "Problem": problem{}, "Request": tenure.Request{}, "Pause": tenure.Pause{},
	} {
		always, sometimes := fields(reflect.TypeOf(v))
		want := slices.Sorted(slices.Values(append(sometimes, always...)))
		if got := slices.Sorted(maps.Keys(schemas[name].Properties)); !slices.Equal(got, want) {
			t.Errorf("%s: described are\n%q, but it has\n%q", name, got, want)
		}
		for _, required := range schemas[name].Required {
			if !slices.Contains(always, required) {
				t.Errorf("%s: %s is said to be always there", name, required)
			}
		}
	}
}

// fields returns the names of those that are always there, and of those that may be left out.
func fields(t reflect.Type) (always, sometimes []string) {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous:
			a, s := fields(field.Type)
			always, sometimes = append(always, a...), append(sometimes, s...)
		case name == "":
		case strings.HasPrefix(options, "omit"):
			sometimes = append(sometimes, name)
		default:
			always = append(always, name)
		}
	}
	return always, sometimes
}

// TestDescriptionHasEveryName of changes, states and causes.
func TestDescriptionHasEveryName(t *testing.T) {
	t.Parallel()
	schemas := readDescription(t).Components.Schemas
	check := func(schema, field, name string) {
		if !slices.Contains(schemas[schema].Properties[field].Enum, name) {
			t.Errorf("%s.%s may not be %q", schema, field, name)
		}
	}
	for kind := tenure.ChangeFirst; !strings.HasPrefix(kind.String(), "change "); kind++ {
		if kind != tenure.ChangeRenewed {
			check("PastChange", "change", kind.String())
		}
		if kind != tenure.ChangeRenewed && kind != tenure.ChangeRegained {
			check("Change", "event", kind.String())
		}
	}
	for state := tenure.StateStopped; !strings.HasPrefix(state.String(), "state "); state++ {
		check("Candidate", "state", state.String())
	}
	for _, cause := range causes {
		check("CampaignEvent", "cause", cause.name)
	}
}

func TestDescriptionIsServed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	status, text := d.get("/openapi.json")
	if status != http.StatusOK || text != string(description) || readDescription(t).OpenAPI != "3.1.0" {
		t.Errorf("got %d and %d bytes", status, len(text))
	}
}
