//go:build kubernetes

package main

import (
	"testing"

	"github.com/tenure-go/tenure/internal/testserver"
)

func init() {
	servers["kubernetes"] = func(t *testing.T) string {
		k := testserver.StartKubernetes(t)
		return "kubernetes://default?kubeconfig=" + k.Kubeconfig(k.Addr, testserver.KubernetesToken)
	}
}
