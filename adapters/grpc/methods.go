package tenuregrpc

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc"

	"github.com/tenure-go/tenure"
)

// methods are those that a gate or a guard stands in front of.
type methods struct {
	limited bool // else all
	names   []string
	funcs   []func(string) bool
}

func (m *methods) name(names []string) {
	m.limited = true
	m.names = append(m.names, names...)
}

// has reports whether a method is among them. A service's name ends with the slash.
func (m *methods) has(fullMethod string) bool {
	if !m.limited {
		return true
	}
	service := fullMethod[:strings.LastIndexByte(fullMethod, '/')+1]
	return slices.Contains(m.names, fullMethod) || slices.Contains(m.names, service) ||
		slices.ContainsFunc(m.funcs, func(match func(string) bool) bool { return match(fullMethod) })
}

// check refuses what could never match.
func (m *methods) check() error {
	if m.limited && len(m.names) == 0 && len(m.funcs) == 0 {
		return fmt.Errorf("%w: WithMethods names no method", tenure.ErrConfig)
	}
	for _, name := range m.names {
		service, method, found := strings.Cut(strings.TrimPrefix(name, "/"), "/")
		if !strings.HasPrefix(name, "/") || service == "" || !found || strings.Contains(method, "/") {
			return fmt.Errorf("%w: %q is neither /package.Service/Method nor /package.Service/", tenure.ErrConfig, name)
		}
	}
	for _, match := range m.funcs {
		if match == nil {
			return fmt.Errorf("%w: WithMethodFunc got no function", tenure.ErrConfig)
		}
	}
	return nil
}

// checkServer refuses names that a server does not have.
func (m *methods) checkServer(services map[string]grpc.ServiceInfo) error {
	for _, name := range m.names {
		service, method, _ := strings.Cut(strings.TrimPrefix(name, "/"), "/")
		info, found := services[service]
		if !found {
			return fmt.Errorf("%w: the server has no service %q, which %q is for", tenure.ErrConfig, service, name)
		}
		named := func(i grpc.MethodInfo) bool { return i.Name == method }
		if method != "" && !slices.ContainsFunc(info.Methods, named) {
			return fmt.Errorf("%w: the server's service %q has no method %q", tenure.ErrConfig, service, method)
		}
	}
	return nil
}
