package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/sidecar"
)

const serveLong = `Serve elections over HTTP, as a sidecar for programs of any language.

With --election the sidecar stands itself, for the program beside it, which asks who leads:

  curl -s localhost:8732/v1/elections/billing     with token, and the trust that is left if this sidecar leads
  curl -s localhost:8732/                         {"name":"ID"}, as the leader-elector sidecar of Kubernetes

With --campaign the sidecar does not stand, but every client that holds a campaign open does, each for itself:

  curl -sN -X POST -H 'Content-Type: application/json' localhost:8732/v1/elections/jobs/campaign

Every event on that stream says for how long the client may act if it hears nothing more. A client that goes gives its
seat back after the drain; one that falls silent, once it cannot trust itself any more.

It listens on loopback alone. For any other address clients have to prove who they are: with the token of --token-file,
or with a certificate of the authority of --tls-client-ca. /openapi.json describes the API.

In a browser, http://localhost:8732/ is the console: who leads, for how much longer, what happened and why, and buttons
that move, pause and resume.

SIGINT, SIGTERM and SIGHUP end it: campaigns are told, seats are given back after their drain, and the exit code is 0.

Exit codes:
  0      ended by a signal
  123    the store cannot be opened
  125    wrong usage, or it cannot listen`

const serveExample = `  tenure serve --election billing --id "$HOSTNAME"
  tenure serve --campaign jobs --ttl 5s --listen unix:/run/tenure/tenure.sock
  tenure serve --election a --campaign b --listen 0.0.0.0:8732 --token-file /etc/tenure/token
  tenure serve --config /etc/tenure/serve.json`

// serveFlags are the flags of serve, and what a configuration file has in their place.
type serveFlags struct {
	config               string
	elections, campaigns []string
	ttl, drain           time.Duration
	address              string
	meta                 []string
	priority             int

	listen                       string
	hosts                        []string
	tokenFile                    string
	certificate, key, clientRoot string
	maxStreams                   int
}

func newServe(a *app) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:     "serve [--election NAME]... [--campaign NAME]... [flags]",
		Short:   "Serve elections to programs of any language, over HTTP",
		Long:    serveLong,
		Example: serveExample,
		GroupID: groupLead,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			plan, err := f.plan(cmd.Flags())
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), plan)
		},

		DisableFlagsInUseLine: true,
	}
	f.register(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("election", a.completeElections)
	_ = cmd.RegisterFlagCompletionFunc("campaign", a.completeElections)
	return cmd
}

func (f *serveFlags) register(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringArrayVar(&f.elections, "election", nil, "`NAME` of an election in which it stands itself; may be repeated")
	flags.StringArrayVar(&f.campaigns, "campaign", nil, "`NAME` of an election in which clients stand; may be repeated")
	flags.DurationVar(&f.ttl, "ttl", tenure.DefaultTTL, "length of the lease: how long after a failure others take over")
	flags.DurationVar(&f.drain, "drain", 0, "part of the lease that leaders get to stop (default a fifth of the TTL)")
	flags.StringVar(&f.address, "address", "", "`address` of the program beside it, for others to see")
	flags.StringArrayVar(&f.meta, "meta", nil, "`KEY=VALUE` for others to see; may be repeated")
	flags.IntVar(&f.priority, "priority", 0, "0: take a free seat at once; down to -10: leave it to others for a while")
	flags.StringVar(&f.listen, "listen", defaultListen, "HOST:PORT or unix:/path, the `address` to listen on")
	flags.StringArrayVar(&f.hosts, "host", nil, "further `NAME` under which it may be asked; may be repeated")
	flags.StringVar(&f.tokenFile, "token-file", "", "`file` with the token that every request has to bring")
	flags.StringVar(&f.certificate, "tls-cert", "", "`file` with the TLS certificate, and those between it and the root")
	flags.StringVar(&f.key, "tls-key", "", "`file` with the certificate's key")
	flags.StringVar(&f.clientRoot, "tls-client-ca", "", "`file` with the authorities of the clients' certificates")
	flags.IntVar(&f.maxStreams, "max-streams", sidecar.DefaultMaxStreams, "`number` of streams at once; more get 503")
	flags.StringVar(&f.config, "config", "", "JSON `file` that says all this instead of flags")
}

const defaultListen = "127.0.0.1:8732"

func (a *app) serve(ctx context.Context, plan servePlan) error {
	options, err := plan.options()
	if err != nil {
		return usagef("%w", err)
	}
	options.ID, options.StoreTimeout, options.Logger, options.Describe = a.id, a.storeTimeout, a.log, describeChange
	if a.solo() {
		a.log.Warn("no other process ever sees this store, so only clients of this sidecar compete", "store", a.storeURL)
	}
	return a.withStoreToLead(ctx, func(store tenure.Store) error {
		options.Store = store
		s, err := sidecar.New(options)
		if err != nil {
			return usagef("%w", err)
		}
		if !options.Address.Local() && options.TLS == nil {
			a.log.Warn("the token travels in the clear: better give --tls-cert and --tls-key", "listen", options.Address)
		}
		listener, err := options.Address.Listen(ctx)
		if err != nil {
			return usagef("cannot listen: %w", err)
		}
		a.log.Info("serving", "listen", listener.Addr(), "id", s.ID())
		defer a.attendManager(ctx)()
		return s.Serve(ctx, listener)
	})
}

// describeChange says of a change what status and watch print of it.
func describeChange(before, now tenure.Change) (state, why string) {
	return stateOf(now), reason(before, now)
}
