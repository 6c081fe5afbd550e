package kubernetes

import (
	"context"
	"errors"
	"fmt"

	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tenure-go/tenure"
)

// Open returns the store at a URL, with a client of its own, once the API server has let it in:
//
//	kubernetes://NAMESPACE[?kubeconfig=FILE&context=NAME]
//
// Without a file it looks where kubectl does, and in a pod takes the pod's service account. Without a namespace it
// takes that of the configuration. README.md has the parameters. The error wraps [tenure.ErrConfig] if the URL, an
// option or the configuration is wrong.
func Open(ctx context.Context, rawURL string, options ...Option) (*Store, error) {
	at, err := parse(rawURL)
	if err == nil {
		_, err = newConfig(options)
	}
	if err != nil {
		return nil, fmt.Errorf("kubernetes: opening: %w", misconfigured(err))
	}
	config, namespace, err := at.config()
	if err != nil {
		return nil, fmt.Errorf("kubernetes: opening: reading the configuration: %w", misconfigured(err))
	}
	s, err := connect(config, namespace, options)
	if err != nil {
		return nil, err
	}
	if _, err := s.floor(ctx); err != nil {
		err = fmt.Errorf("kubernetes: opening namespace %q of %s: %w", namespace, config.Host, err)
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func misconfigured(err error) error {
	if clientcmd.IsEmptyConfig(err) { // client-go's own words recommend a variable that is out of use
		err = errors.New("there is none: set KUBECONFIG to a file or put it at ~/.kube/config, unless this runs in a pod")
	}
	if errors.Is(err, tenure.ErrConfig) {
		return err
	}
	return fmt.Errorf("%w: %w", tenure.ErrConfig, err)
}

// config returns how to reach the API server, and the namespace.
func (at location) config() (*rest.Config, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = at.kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: at.context})
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, "", err
	}
	if at.namespace != "" {
		namespace = at.namespace
	}
	config, err := loader.ClientConfig()
	return config, namespace, err
}

// connect makes a client that is not throttled: that is the API server's affair, which knows what it can bear.
func connect(config *rest.Config, namespace string, options []Option) (*Store, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	http, release, err := newClient(config)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: opening: %w", misconfigured(err))
	}
	client, err := coordinationclient.NewForConfigAndClient(config, http)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: opening: %w", misconfigured(err))
	}
	s, err := New(client, namespace, options...)
	if err != nil {
		return nil, err
	}
	s.release = release
	return s, nil
}
