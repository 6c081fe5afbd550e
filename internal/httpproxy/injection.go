package httpproxy

import (
	"net/http"
	"slices"
)

// Injection is a fault that is in force.
type Injection struct {
	proxy  *Proxy
	fault  Fault
	met    chan struct{}
	healed chan struct{}
}

// Inject puts a fault in force, after those that are: of several that match a request it meets the first.
func (p *Proxy) Inject(f Fault) *Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := &Injection{proxy: p, fault: f, met: make(chan struct{}), healed: make(chan struct{})}
	p.injections = append(p.injections, in)
	return in
}

// Met is closed when the last of the requests that Times allows, or the first if it does not limit them, has met the
// fault.
func (in *Injection) Met() <-chan struct{} { return in.met }

// Heal takes the fault back.
func (in *Injection) Heal() {
	in.proxy.mu.Lock()
	defer in.proxy.mu.Unlock()
	in.end()
	select {
	case <-in.healed:
	default:
		close(in.healed)
	}
}

// end lets no further request meet the fault. The proxy is locked.
func (in *Injection) end() {
	in.proxy.injections = slices.DeleteFunc(in.proxy.injections, func(other *Injection) bool { return other == in })
}

// meet counts a request and returns the first injection that is for it, nil if none is.
func (p *Proxy) meet(r *http.Request) *Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[r.Method]++
	for _, in := range p.injections {
		if in.fault.matches(r) {
			in.use()
			return in
		}
	}
	return nil
}

func (in *Injection) use() {
	switch in.fault.times {
	case 0:
		select {
		case <-in.met:
		default:
			close(in.met)
		}
	case 1:
		close(in.met)
		in.end()
	default:
		in.fault.times--
	}
}
