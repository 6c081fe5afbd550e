package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/sidecar"
	"github.com/tenure-go/tenure/internal/storeurl"
)

// servePlan is what is to be served, as the configuration file has it.
type servePlan struct {
	Listen     string         `json:"listen"`
	Hosts      []string       `json:"hosts"`
	TokenFile  string         `json:"token_file"`
	TLS        planTLS        `json:"tls"`
	MaxStreams int            `json:"max_streams"`
	Elections  []planElection `json:"elections"`
}

type planTLS struct {
	Certificate string `json:"cert"`
	Key         string `json:"key"`
	ClientCA    string `json:"client_ca"`
}

type planElection struct {
	Name string `json:"name"`
	// Mode is "stand" or "campaign".
	Mode     string            `json:"mode"`
	TTL      *planDuration     `json:"ttl"`
	Drain    *planDuration     `json:"drain"`
	Address  string            `json:"address"`
	Metadata map[string]string `json:"metadata"`
	Priority int               `json:"priority"`
}

// planDuration is written as Go writes durations: "10s".
type planDuration time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *planDuration) UnmarshalText(text []byte) error {
	parsed, err := storeurl.Duration(string(text))
	*d = planDuration(parsed)
	return err
}

// plan returns what flags or file say, never a mixture of both.
func (f *serveFlags) plan(flags *pflag.FlagSet) (servePlan, error) {
	if f.config == "" {
		return f.planOfFlags(flags.Changed("drain"))
	}
	var mixed error
	flags.Visit(func(given *pflag.Flag) {
		if given.Name == "config" || isGlobal(given) {
			return
		}
		mixed = usagef("--config says it all: write what --%s says into the file instead", given.Name)
	})
	if mixed != nil {
		return servePlan{}, mixed
	}
	return readPlan(f.config)
}

// isGlobal reports whether every subcommand has the flag.
func isGlobal(f *pflag.Flag) bool {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(globals).register(all)
	return all.Lookup(f.Name) != nil
}

func (f *serveFlags) planOfFlags(drainGiven bool) (servePlan, error) {
	metadata, err := parseMetadata(f.meta)
	if err != nil {
		return servePlan{}, err
	}
	if len(f.elections)+len(f.campaigns) == 0 {
		return servePlan{}, usagef("name an election: --election NAME, --campaign NAME or --config FILE")
	}
	if len(f.elections) == 0 && (f.address != "" || len(f.meta) > 0 || f.priority != 0) {
		return servePlan{}, usagef("--address, --meta and --priority need --election: with --campaign clients bring theirs")
	}
	ttl := (*planDuration)(&f.ttl)
	var drain *planDuration
	if drainGiven {
		drain = (*planDuration)(&f.drain)
	}
	p := servePlan{
		Listen: f.listen, Hosts: f.hosts, TokenFile: f.tokenFile, MaxStreams: f.maxStreams,
		TLS: planTLS{f.certificate, f.key, f.clientRoot},
	}
	for _, name := range f.elections {
		p.Elections = append(p.Elections, planElection{
			Name: name, Mode: "stand", TTL: ttl, Drain: drain,
			Address: f.address, Metadata: metadata, Priority: f.priority,
		})
	}
	for _, name := range f.campaigns {
		p.Elections = append(p.Elections, planElection{Name: name, Mode: "campaign", TTL: ttl, Drain: drain})
	}
	return p, nil
}

func readPlan(path string) (servePlan, error) {
	p := servePlan{Listen: defaultListen, MaxStreams: sidecar.DefaultMaxStreams}
	text, err := os.ReadFile(path)
	if err != nil {
		return p, usagef("reading the configuration: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields() // a misspelt one must not be ignored
	err = decoder.Decode(&p)
	if err == nil {
		if _, err = decoder.Token(); err == nil {
			err = errors.New("something follows the configuration")
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		return p, usagef("the configuration %s cannot be read: %w", path, err)
	}
	return p, nil
}

func (p servePlan) options() (sidecar.Options, error) {
	address, err := sidecar.ParseAddress(p.Listen)
	if err != nil {
		return sidecar.Options{}, err
	}
	o := sidecar.Options{Address: address, Hosts: p.Hosts, MaxStreams: p.MaxStreams}
	if p.MaxStreams == 0 { // which would be the default
		return o, errors.New("the maximum of 0 streams would serve none")
	}
	for _, e := range p.Elections {
		election, err := e.election()
		if err != nil {
			return o, err
		}
		o.Elections = append(o.Elections, election)
	}
	if p.TokenFile != "" {
		if o.Token, err = sidecar.ReadToken(p.TokenFile); err != nil {
			return o, err
		}
	}
	o.TLS, err = sidecar.LoadTLS(p.TLS.Certificate, p.TLS.Key, p.TLS.ClientCA)
	return o, err
}

func (e planElection) election() (sidecar.Election, error) {
	if e.Mode != "stand" && e.Mode != "campaign" {
		return sidecar.Election{}, fmt.Errorf(`the mode %q of the election %q is neither "stand" nor "campaign"`,
			e.Mode, e.Name)
	}
	ttl := tenure.DefaultTTL
	if e.TTL != nil {
		ttl = time.Duration(*e.TTL)
	}
	drain := ttl / 5
	if e.Drain != nil {
		drain = time.Duration(*e.Drain)
	}
	return sidecar.Election{
		Name: e.Name, Campaign: e.Mode == "campaign", TTL: ttl, Drain: drain,
		Address: e.Address, Metadata: e.Metadata, Priority: e.Priority,
	}, nil
}
