package guard

import "time"

// Main returns at once: there are no guard processes on this system.
func Main() {}

// launch starts the ward in this process. The reports end when nothing of the group is left.
func launch(options Options) (send func(order) error, reports <-chan report, err error) {
	const all = 16 // more than one group gives rise to or is sent at once
	out, orders, over := make(chan report, all), make(chan order, all), make(chan struct{})
	w, err := newWard(options, orders, func(r report) { out <- r })
	if err != nil {
		return nil, nil, err
	}
	go func() {
		defer close(out)
		defer close(over)
		w.start(options)
		w.run()
	}()
	return func(o order) error { return post(orders, over, o) }, out, nil
}

func post(orders chan<- order, over <-chan struct{}, o order) error {
	select {
	case orders <- o:
		return nil
	case <-over:
		return ErrEnding
	}
}

// StartTime returns zero: there are no guard processes on this system that would have to start.
func StartTime() (time.Duration, error) { return 0, nil }
