package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure/cmd/tenure/internal/sidecar"
)

const probeLong = `Ask the sidecar of this host ("tenure serve") whether it serves: for health checks in images that
have nothing else to ask with, such as those of Docker, and exec probes of Kubernetes, which reach a sidecar on
loopback.

It asks for /healthz, which needs no token and says nothing of the store: an outage of that must not restart every
sidecar. It does not speak TLS.

The exit code is 0 if the sidecar serves, 124 if it does not answer in time, else 125.`

const probeExample = `  tenure probe
  tenure probe --listen unix:/run/tenure/tenure.sock --timeout 1s`

func newProbe(a *app) *cobra.Command {
	var (
		listen  string
		timeout time.Duration
	)
	cmd := &cobra.Command{
		Use:     "probe",
		Short:   "Ask a sidecar whether it serves, as a health check",
		Long:    probeLong,
		Example: probeExample,
		GroupID: groupLook,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.probe(cmd.Context(), listen, timeout)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", defaultListen, "HOST:PORT or unix:/path, the `address` it listens on")
	cmd.Flags().DurationVar(&timeout, "timeout", 3*time.Second, "how long to wait for its answer")
	return cmd
}

func (a *app) probe(ctx context.Context, listen string, timeout time.Duration) error {
	address, err := sidecar.ParseAddress(listen)
	if err != nil {
		return usagef("%w", err)
	}
	if timeout <= 0 {
		return usagef("--timeout %v must be positive", timeout)
	}
	bounded, cancel := context.WithTimeoutCause(ctx, timeout, errOverdue)
	defer cancel()
	switch err := address.Probe(bounded); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(context.Cause(bounded), errOverdue):
		return failf(codeTimeout, "the sidecar at %s did not answer within %v (--timeout)", address, timeout)
	default:
		return failf(codeFailed, "no sidecar serves at %s: %w", address, err)
	}
}
