package kubernetes

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tenure-go/tenure"
)

// Option configures a [Store].
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

// config is what the options fill in.
type config struct {
	labels map[string]string
}

// WithLabels sets labels of Leases that are made, for selectors and policies. Those that exist stay as they are.
// Default none.
func WithLabels(labels map[string]string) Option {
	return option(func(c *config) { c.labels = maps.Clone(labels) })
}

func newConfig(options []Option) (config, error) {
	var c config
	for _, o := range options {
		if o != nil {
			o.apply(&c)
		}
	}
	return c, c.check()
}

func (c config) check() error {
	for key, value := range c.labels {
		problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...)
		if len(problems) > 0 {
			return fmt.Errorf("%w: the label %s=%s: %s", tenure.ErrConfig, key, value, problems[0])
		}
	}
	return nil
}
