//go:build linux

package network

import (
	"errors"
	"fmt"
	"time"
)

// Direction is in which packets vanish.
type Direction string

// The directions. Where only one is cut, what comes back is missed in the other one too: acknowledgements.
const (
	Both      Direction = "both"
	ToStore   Direction = "to the store"
	FromStore Direction = "from the store"
)

// Directions returns all of them.
func Directions() []Direction { return []Direction{Both, ToStore, FromStore} }

// Outage is that of a network, while it lasts.
type Outage struct {
	network *Network
	silent  []*end // where nothing may arrive
	before  []uint64
}

// arriving returns where packets of a direction arrive.
func (n *Network) arriving(d Direction) []*end {
	switch d {
	case ToStore:
		return []*end{n.far}
	case FromStore:
		return []*end{n.near}
	default:
		return []*end{n.near, n.far}
	}
}

// outage is one that has begun.
func (n *Network) outage(d Direction) (*Outage, error) {
	o := &Outage{network: n, silent: n.arriving(d)}
	for _, e := range o.silent {
		packets, err := e.counted(e.arrived)
		if err != nil {
			return nil, err
		}
		o.before = append(o.before, packets)
	}
	return o, nil
}

// passed returns an error if anything has arrived since the outage began.
func (o *Outage) passed() error {
	for i, e := range o.silent {
		now, err := e.counted(e.arrived)
		if err != nil {
			return err
		}
		if now != o.before[i] {
			return fmt.Errorf("%d packets arrived at %v in spite of it", now-o.before[i], e.addr.Addr())
		}
	}
	return nil
}

// Drop has everything that is sent in a direction vanish, unknown to its sender.
func (n *Network) Drop(d Direction) (*Outage, error) {
	for _, e := range n.arriving(d) {
		if err := e.drop(); err != nil {
			return nil, errors.Join(err, n.near.heal(), n.far.heal())
		}
	}
	return n.outage(d)
}

// Heal ends that, and returns how many packets have vanished. It returns an error unless some had: where nothing was
// sent, it sends something itself.
func (o *Outage) Heal() (packets uint64, err error) {
	for _, e := range o.silent {
		lost, trying := o.lost(e)
		packets, err = packets+lost, errors.Join(err, trying)
	}
	err = errors.Join(err, o.passed())
	for _, e := range o.silent {
		err = errors.Join(err, e.heal())
	}
	return packets, err
}

// vanishes is within which time a packet is lost for certain, on a machine however busy.
const vanishes = 10 * time.Second

// lost is how many packets have not arrived at an end.
func (o *Outage) lost(at *end) (packets uint64, err error) {
	if packets, err = at.counted(at.lost); err != nil || packets > 0 {
		return packets, err
	}
	from := o.network.near
	if at == from {
		from = o.network.far
	}
	if err := from.datagram(at.addr.Addr(), []byte("is anybody there?")); err != nil {
		return 0, err
	}
	for end := time.Now().Add(vanishes); packets == 0; time.Sleep(time.Millisecond) {
		if packets, err = at.counted(at.lost); err != nil {
			return 0, err
		}
		if time.Now().After(end) {
			return 0, fmt.Errorf("nothing that was sent to %v vanished", at.addr.Addr())
		}
	}
	return packets, nil
}
