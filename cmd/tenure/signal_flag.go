package main

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
)

// signalFlag is a signal by its name, with or without SIG, or its number.
type signalFlag syscall.Signal

func (f *signalFlag) Set(text string) error {
	if number, err := strconv.Atoi(text); err == nil && number > 0 && number < 65 {
		*f = signalFlag(number)
		return nil
	}
	name := strings.TrimPrefix(strings.ToUpper(text), "SIG")
	sig, ok := signals[name]
	if !ok {
		return fmt.Errorf("there is no signal %q", text)
	}
	*f = signalFlag(sig)
	return nil
}

func (f *signalFlag) String() string {
	for name, sig := range signals {
		if sig == syscall.Signal(*f) {
			return name
		}
	}
	return strconv.Itoa(int(*f))
}

// Type names the flag's value in usage texts.
func (*signalFlag) Type() string { return "signal" }
