package main

import (
	"log/slog"
	"time"
)

// silentFor is how long the store may take to open until that is worth a line.
const silentFor = time.Second

// tellSilence logs once that the store does not answer, unless the function that it returns is called soon. That one
// logs, if it was late, that the store answers now; why it never did is the error's to say.
func tellSilence(log *slog.Logger) func(error) {
	answered, told := make(chan struct{}), make(chan bool, 1)
	go func() {
		timer := time.NewTimer(silentFor)
		defer timer.Stop()
		select {
		case <-answered:
			told <- false
		case <-timer.C:
			log.Warn("the store does not answer yet; waiting for it")
			told <- true
		}
	}()
	began := time.Now()
	return func(err error) {
		close(answered)
		if late := <-told; late && err == nil {
			log.Info("the store answers", "after", time.Since(began).Round(time.Millisecond))
		}
	}
}
