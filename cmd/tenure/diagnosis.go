package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenure-go/tenure/cmd/tenure/internal/probe"
)

// diagnosis is the JSON form of an examination.
type diagnosis struct {
	Checks         []probe.Finding `json:"checks"`
	Grade          string          `json:"grade"`
	Reasons        []string        `json:"grade_reasons,omitempty"`
	Load           probe.Latency   `json:"load"`
	Swap           probe.Latency   `json:"compare_and_swap"`
	RecommendedTTL float64         `json:"recommended_ttl_seconds,omitempty"`
}

// diagnose examines everything, but times no store that is not safe.
func diagnose(ctx context.Context, p *probe.Probe, samples int) (d diagnosis, err error) {
	if d.Checks, err = p.Swaps(ctx); err != nil {
		return d, fmt.Errorf("checking compare-and-swap: %w", err)
	}
	if _, failed := d.failed(); failed {
		return d, nil
	}
	watch, err := p.Watch(ctx)
	if err != nil {
		return d, fmt.Errorf("checking the watch: %w", err)
	}
	guarantee, grade, err := p.Grade(ctx)
	if err != nil {
		return d, fmt.Errorf("asking for the guarantee: %w", err)
	}
	load, swap, err := p.Latencies(ctx, samples)
	if err != nil {
		return d, fmt.Errorf("timing calls: %w", err)
	}
	d.Checks = append(append(d.Checks, watch, grade), probe.Clocks(clockError)...)
	d.Grade, d.Reasons = guarantee.Grade.String(), guarantee.Reasons
	d.Load, d.Swap, d.RecommendedTTL = load, swap, probe.RecommendTTL(swap).Seconds()
	return d, nil
}

// failed returns the check by which elections in the store are not safe, if there is one.
func (d diagnosis) failed() (probe.Finding, bool) {
	i := slices.IndexFunc(d.Checks, func(f probe.Finding) bool { return f.Result == probe.Failed })
	if i < 0 {
		return probe.Finding{}, false
	}
	return d.Checks[i], true
}

// verdict is an error if elections in the store are not safe.
func (d diagnosis) verdict() error {
	if f, failed := d.failed(); failed {
		return failf(codeStore, "elections in this store are not safe: %s", f.Detail)
	}
	return nil
}

var resultColors = map[probe.Result]color{
	probe.OK: green, probe.Warning: yellow, probe.Failed: red, probe.Note: plain,
}

func (a *app) printDiagnosis(d diagnosis, asJSON bool) error {
	if asJSON {
		return a.printJSON(d)
	}
	checks := table{head: []string{"CHECK", "RESULT", "DETAIL"}}
	for _, f := range d.Checks {
		checks.add(cell{text: f.Check}, cell{string(f.Result), resultColors[f.Result]}, cell{text: f.Detail})
	}
	if err := checks.write(a.stdout); err != nil || d.RecommendedTTL == 0 {
		return err
	}
	fmt.Fprintln(a.stdout)
	if err := latencies(d.Load, d.Swap).write(a.stdout); err != nil {
		return err
	}
	if len(d.Reasons) > 0 {
		fmt.Fprintf(a.stdout, "\nGrade: %s, because\n", d.Grade)
	}
	for _, reason := range d.Reasons {
		fmt.Fprintln(a.stdout, "- "+printable(reason))
	}
	_, err := fmt.Fprintf(a.stdout, "\nRecommended TTL: %gs or more, 60 times a slow swap (p99) and never below 2s.\n",
		d.RecommendedTTL)
	return err
}

func latencies(load, swap probe.Latency) *table {
	t := &table{head: []string{"CALL", "SAMPLES", "P50", "P99", "MAX"}}
	for _, call := range []struct {
		name string
		probe.Latency
	}{{"load", load}, {"swap", swap}} {
		t.add(cell{text: call.name}, cell{text: fmt.Sprint(call.Samples)}, cell{text: probe.Round(call.P50).String()},
			cell{text: probe.Round(call.P99).String()}, cell{text: probe.Round(call.Max).String()})
	}
	return t
}
