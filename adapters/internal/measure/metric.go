// Package measure turns what candidates do into measurements. It is what the adapters for metrics have in common, so
// that names, units and meanings are the same in all of them. It counts and times; an adapter keeps the numbers.
package measure

import "strings"

// Kind is how the numbers of a metric add up.
type Kind uint8

// The kinds.
const (
	Counter Kind = iota
	Gauge
	Histogram
)

// ID is a metric: an index of [Metrics].
type ID uint8

// The metrics.
const (
	Leader ID = iota
	Token
	LeaseTTL
	LeaseRemaining
	Leaderless
	Paused
	TermsStarted
	TermsEnded
	Overruns
	StoreErrors
	RenewalDuration
	SafetyMargin
	HandoverDuration
	StoreCallDuration
)

// Metric describes one metric.
type Metric struct {
	// Name is the name in OpenTelemetry; see Exposed for the one in Prometheus.
	Name string
	// Unit is a UCUM unit; one in braces only says what is counted.
	Unit string
	Kind Kind
	// Help is one sentence for people.
	Help string
	// Labels are the names of its labels, in the order in which values are given.
	Labels []string
	// Buckets are the upper bounds of a histogram's buckets.
	Buckets []float64
}

var (
	callBuckets     = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	shareBuckets    = []float64{.05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .6, .8}
	handoverBuckets = []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 20, 30, 60, 120, 300}
)

// ofCandidate are the labels of what each candidate has of its own.
var ofCandidate = []string{"election", "candidate"}

// Metrics are all of them, by ID.
var Metrics = []Metric{
	Leader: {
		Name: "tenure.leader", Unit: "{leader}", Kind: Gauge, Labels: ofCandidate,
		Help: "1 while the candidate leads, by the clock, otherwise 0.",
	},
	Token: {
		Name: "tenure.token", Unit: "{token}", Kind: Gauge, Labels: ofCandidate,
		Help: "Fencing token of the newest record that the candidate has seen.",
	},
	LeaseTTL: {
		Name: "tenure.lease.ttl", Unit: "s", Kind: Gauge, Labels: ofCandidate,
		Help: "Length of the lease in the newest record that the candidate has seen.",
	},
	LeaseRemaining: {
		Name: "tenure.lease.remaining", Unit: "s", Kind: Gauge, Labels: ofCandidate,
		Help: "For how long the candidate can still trust its term if it is not renewed, 0 unless it leads.",
	},
	Leaderless: {
		Name: "tenure.leaderless", Unit: "s", Kind: Gauge, Labels: ofCandidate,
		Help: "For how long a candidate that stands has seen the seat vacant or its leader silent for more than the lease, " +
			"0 while there is a leader.",
	},
	Paused: {
		Name: "tenure.paused", Unit: "{pause}", Kind: Gauge, Labels: ofCandidate,
		Help: "1 while an operator keeps the seat vacant, in the newest record that the candidate has seen, otherwise 0.",
	},
	TermsStarted: {
		Name: "tenure.terms.started", Unit: "{term}", Kind: Counter, Labels: ofCandidate,
		Help: "Terms that the candidate has won.",
	},
	TermsEnded: {
		Name: "tenure.terms.ended", Unit: "{term}", Kind: Counter, Labels: []string{"election", "candidate", "reason"},
		Help: "Terms of the candidate that have ended, by reason.",
	},
	Overruns: {
		Name: "tenure.overruns", Unit: "{overrun}", Kind: Counter, Labels: ofCandidate,
		Help: "Terms whose leader work has not returned in time.",
	},
	StoreErrors: {
		Name: "tenure.store.errors", Unit: "{error}", Kind: Counter, Labels: []string{"election", "candidate", "kind"},
		Help: "Calls of the candidate to its store that failed, by kind of failure.",
	},
	RenewalDuration: {
		Name: "tenure.renewal.duration", Unit: "s", Kind: Histogram, Labels: ofCandidate, Buckets: callBuckets,
		Help: "Duration of the calls that renewed the candidate's lease.",
	},
	SafetyMargin: {
		Name: "tenure.safety_margin.ratio", Unit: "1", Kind: Histogram, Labels: ofCandidate, Buckets: shareBuckets,
		Help: "What was left of the candidate's trust in its term when a renewal came back, as a share of the lease's TTL.",
	},
	HandoverDuration: {
		Name: "tenure.handover.duration", Unit: "s", Kind: Histogram, Labels: []string{"election", "after"},
		Buckets: handoverBuckets,
		Help:    "Time from the last sign of one leader to the first sign of the next, as this process has seen them.",
	},
	StoreCallDuration: {
		Name: "tenure.store.call.duration", Unit: "s", Kind: Histogram, Labels: []string{"operation", "outcome"},
		Buckets: callBuckets,
		Help:    "Duration of calls to the store.",
	},
}

// Exposed returns the metric's name in Prometheus, which is also what OpenTelemetry's exporters make of Name and Unit.
func (m Metric) Exposed() string {
	name := strings.ReplaceAll(m.Name, ".", "_")
	if m.Unit == "s" {
		name += "_seconds"
	}
	if m.Kind == Counter {
		name += "_total"
	}
	return name
}
