//go:build linux

package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
)

// Network is a candidate's own: a namespace in which it lives, another in which its proxies listen, and a cable between
// the two. The proxies' process lives in neither, and connects from where it is to the store. All networks have the
// same addresses, which nothing else can reach, so that none of them is in anybody's way.
//
// A nil Network is the system's own, which candidate and proxies share.
type Network struct {
	near *end // the candidate's
	far  *end // the proxies'
}

// Addresses of the two ends, of the range that is set apart for tests of networks.
var (
	nearAddr = netip.MustParsePrefix("198.18.0.2/30")
	farAddr  = netip.MustParsePrefix("198.18.0.1/30")
)

// New makes a network. That needs the rights to administer the system and its network, which root has, and a kernel
// with network namespaces, virtual links and nftables.
func New() (*Network, error) {
	n := &Network{}
	if err := n.make(); err != nil {
		n.Close()
		return nil, fmt.Errorf("make a network: %w", err)
	}
	return n, nil
}

func (n *Network) make() (err error) {
	if n.near, err = newEnd(nearAddr); err != nil {
		return err
	}
	if n.far, err = newEnd(farAddr); err != nil {
		return err
	}
	link := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: cable}, PeerName: cable, PeerNamespace: netlink.NsFd(n.far.space),
	}
	if err := n.near.links.LinkAdd(link); err != nil {
		return fmt.Errorf("lay a cable: %w", err)
	}
	for _, e := range []*end{n.near, n.far} {
		if err := e.configure(); err != nil {
			return err
		}
	}
	return nil
}

// Close lets go of the network. It goes when the processes in it have ended and its listeners are closed.
func (n *Network) Close() {
	for _, e := range []*end{n.near, n.far} {
		if e != nil {
			e.close()
		}
	}
}

// Listen listens on a free port of the far end: where the candidate comes to by the cable alone.
func (n *Network) Listen() (net.Listener, error) {
	if n == nil {
		return net.Listen("tcp", loopback)
	}
	return n.far.listen(netip.AddrPortFrom(farAddr.Addr(), 0).String())
}

// ListenNear listens on a free port of the candidate's own loopback: what is done to the cable does not touch it.
func (n *Network) ListenNear() (net.Listener, error) {
	if n == nil {
		return net.Listen("tcp", loopback)
	}
	return n.near.listen(loopback)
}

const loopback = "127.0.0.1:0"

// Go calls do on a thread of its own in the candidate's namespace, with the error if it cannot get there. Processes
// that do starts live there. The thread ends with do, so that nothing else ever runs on it.
func (n *Network) Go(do func(error)) {
	if n == nil {
		onThread(func() { do(nil) })
		return
	}
	n.near.run(do)
}

// Unplug takes the candidate's end of the cable down: there is no way to the store any more, which whoever connects is
// told at once, and what is on its way is lost.
func (n *Network) Unplug() (*Outage, error) {
	if err := n.near.set((*netlink.Handle).LinkSetDown); err != nil {
		return nil, err
	}
	return n.outage(Both)
}

// PlugIn ends that. It returns an error unless all was cut off meanwhile, and nothing is any more.
func (o *Outage) PlugIn() error {
	n := o.network
	cut := n.near.route(n.far.addr.Addr())
	err := errors.Join(o.passed(), n.near.set((*netlink.Handle).LinkSetUp))
	if cut == nil {
		err = errors.Join(err, errors.New("there was a way to the store although the link was down"))
	}
	if back := n.near.route(n.far.addr.Addr()); back != nil {
		err = errors.Join(err, fmt.Errorf("the way to the store did not come back: %w", back))
	}
	return err
}
