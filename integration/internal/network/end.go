//go:build linux

package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// cable is what the link is called at both ends.
const cable = "cable"

// end is one end of the cable, a namespace with nothing in it but the cable and a loopback.
type end struct {
	space netns.NsHandle
	addr  netip.Prefix
	links *netlink.Handle
	rules *nftables.Conn
	// lost drops all that arrives by the cable while it has a rule; arrived counts what it lets through.
	lost, arrived *nftables.Chain
}

func newEnd(addr netip.Prefix) (*end, error) {
	e := &end{space: netns.None(), addr: addr}
	made := make(chan error)
	onThread(func() {
		var err error
		e.space, err = netns.New()
		made <- err
	})
	if err := <-made; err != nil {
		return nil, fmt.Errorf("make a namespace: %w", err)
	}
	var err error
	if e.links, err = netlink.NewHandleAt(e.space); err == nil {
		e.rules, err = nftables.New(nftables.WithNetNSFd(int(e.space)))
	}
	if err != nil {
		e.close()
		return nil, fmt.Errorf("talk to a namespace: %w", err)
	}
	return e, nil
}

func (e *end) close() {
	if e.links != nil {
		e.links.Close()
	}
	_ = e.space.Close()
}

// configure has the end be what the other one can reach.
func (e *end) configure() error {
	lo, err := e.links.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := e.links.LinkSetUp(lo); err != nil {
		return fmt.Errorf("have a loopback: %w", err)
	}
	link, err := e.links.LinkByName(cable)
	if err != nil {
		return err
	}
	address := &netlink.Addr{IPNet: &net.IPNet{
		IP: e.addr.Addr().AsSlice(), Mask: net.CIDRMask(e.addr.Bits(), e.addr.Addr().BitLen()),
	}}
	if err := errors.Join(e.links.AddrAdd(link, address), e.links.LinkSetUp(link)); err != nil {
		return fmt.Errorf("plug in %v: %w", e.addr, err)
	}
	return e.count()
}

// set does something to this end of the cable.
func (e *end) set(to func(*netlink.Handle, netlink.Link) error) error {
	link, err := e.links.LinkByName(cable)
	if err != nil {
		return err
	}
	return to(e.links, link)
}

// run calls do on a thread in the namespace, with the error if it cannot get there.
func (e *end) run(do func(error)) {
	onThread(func() { do(netns.Set(e.space)) })
}

// within calls do in the namespace, and returns when it has. Sockets that it makes stay there.
func (e *end) within(do func() error) error {
	done := make(chan error)
	e.run(func(err error) {
		if err == nil {
			err = do()
		}
		done <- err
	})
	return <-done
}

func (e *end) listen(addr string) (listener net.Listener, err error) {
	err = e.within(func() error {
		listener, err = net.Listen("tcp", addr)
		return err
	})
	return listener, err
}

// nobody is a port on which nothing listens.
const nobody = 9

// route returns an error if there is no way to an address. It sends nothing.
func (e *end) route(to netip.Addr) error { return e.datagram(to, nil) }

// datagram sends one, if it is not empty.
func (e *end) datagram(to netip.Addr, text []byte) error {
	return e.within(func() error {
		conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(to, nobody)))
		if err != nil {
			return err
		}
		if len(text) > 0 {
			_, err = conn.Write(text)
		}
		return errors.Join(err, conn.Close())
	})
}
