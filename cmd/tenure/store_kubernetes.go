//go:build kubernetes

package main

import (
	"context"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/kubernetes"
)

// kubernetesScheme is the Leases of a namespace. Its client is half as large as all the rest of the command, which
// therefore has it only if it is built with the tag kubernetes.
var kubernetesScheme = scheme{names: []string{"kubernetes"}, form: "kubernetes://namespace", open: openKubernetes}

func init() { schemes = append(schemes, kubernetesScheme) }

func openKubernetes(ctx context.Context, address string, _ opening) (tenure.Store, func() error, error) {
	return opened(kubernetes.Open(ctx, address))
}
