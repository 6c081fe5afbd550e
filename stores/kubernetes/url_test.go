package kubernetes

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
)

func TestURL(t *testing.T) {
	for raw, want := range map[string]location{
		"kubernetes://":        {},
		"kubernetes:///":       {},
		"kubernetes://billing": {namespace: "billing"},
		"kubernetes://billing?kubeconfig=/etc/k&context=prod": {namespace: "billing", kubeconfig: "/etc/k", context: "prod"},
	} {
		if got, err := parse(raw); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", raw, got, err, want)
		}
	}
}

func TestWrongURL(t *testing.T) {
	storetest.WrongURLs(t, Open, map[string]string{
		"k8s://billing":                          `the scheme is "k8s"; want kubernetes`,
		"kubernetes://billing:443":               "the address of the API server is in the kubeconfig",
		"kubernetes://billing/invoices":          "want kubernetes://NAMESPACE",
		"kubernetes:billing":                     "want kubernetes://NAMESPACE",
		"kubernetes://billing#a":                 "want kubernetes://NAMESPACE",
		"kubernetes://me:secret@billing":         "a user or a password has no place",
		"kubernetes://billing?namespace=a":       `no parameter "namespace"`,
		"kubernetes://billing?context=":          `parameter "context" of the URL is empty`,
		"kubernetes://billing?context=a\x7f":     "no URL",
		"kubernetes://Billing?kubeconfig=%zz":    "cannot be read",
		"kubernetes://a?kubeconfig=/no/such/one": "no such file",
	})
}

// TestNoConfiguration: who has none is told where it is looked for.
func TestNoConfiguration(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	_, err := Open(t.Context(), "kubernetes://billing")
	if !errors.Is(err, tenure.ErrConfig) || !strings.Contains(err.Error(), "there is none: set KUBECONFIG to a file") {
		t.Errorf("%v; want an ErrConfig that says where it is looked for", err)
	}
}

func TestWrongConfiguration(t *testing.T) {
	client := clientFor(t, "127.0.0.1:1")
	for want, open := range map[string]func() (*Store, error){
		"client is nil":   func() (*Store, error) { return New(nil, "a") },
		"namespace \"\"":  func() (*Store, error) { return New(client, "") },
		"namespace \"A\"": func() (*Store, error) { return New(client, "A") },
		"label a b=c":     func() (*Store, error) { return New(client, "a", WithLabels(map[string]string{"a b": "c"})) },
	} {
		if _, err := open(); !errors.Is(err, tenure.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want an ErrConfig with %q", err, want)
		}
	}
}
