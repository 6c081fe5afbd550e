package main

import "context"

// silence is a logger for clients that would print what they return as errors, too.
type silence struct{}

// Print is what go-sql-driver calls.
func (silence) Print(...any) {}

// contextSilence is the same for go-redis.
type contextSilence struct{}

// Printf is what go-redis calls.
func (contextSilence) Printf(context.Context, string, ...any) {}
