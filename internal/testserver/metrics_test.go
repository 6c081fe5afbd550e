package testserver

import "testing"

func TestMetrics(t *testing.T) {
	const metrics Metrics = `# HELP requests_total How many there were.
# TYPE requests_total counter
requests_total{code="200",resource="leases",verb="GET"} 3
requests_total{code="200",resource="leases",verb="PUT"} 1.5e+01
requests_total{code="409",resource="leases",verb="PUT"} 4
requests_total{code="200",subresource="leases",verb="PUT"} 100
requests_total_of_others{code="200",resource="leases",verb="PUT"} 1000
revision 12
`
	for _, test := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"requests_total", nil, 122},
		{"requests_total", []string{`resource="leases"`}, 22},
		{"requests_total", []string{`verb="PUT"`, `resource="leases"`, `code="200"`}, 15},
		{"revision", nil, 12},
		{"revisions", nil, 0},
		{"requests_total", []string{`code="500"`}, 0},
	} {
		if got, err := metrics.Sum(test.name, test.labels...); err != nil || got != test.want {
			t.Errorf("%s with %q is %v, want %v: %v", test.name, test.labels, got, test.want, err)
		}
	}
	if got, err := Metrics("broken{} many\n").Sum("broken"); err == nil {
		t.Errorf("a metric without a number is %v", got)
	}
}
