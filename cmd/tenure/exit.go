package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/democmd"
	"github.com/tenure-go/tenure/cmd/tenure/internal/ending"
)

// Exit codes. They lie above those that commands use themselves, whose status `tenure run` passes on, and mean the
// same as those of timeout, env and the shells where these have one. After a signal it is that of ending.Signal.
const (
	codeRefused = 120 // the election is in use, went to somebody else, or the user said no
	codeVacant  = 121 // nobody leads
	codeLost    = 122 // leadership was lost
	codeStore   = 123 // the store failed
	codeTimeout = 124 // the time was over
	codeFailed  = 125 // wrong usage, or tenure itself failed
)

// exitCodes is the documentation of the exit codes in help texts.
const exitCodes = `Exit codes:
  0      done
  120    refused: the election is in use, went to somebody else, or you said no
  121    nobody leads
  122    leadership was lost (run --once)
  123    the store failed
  124    the time was over
  125    wrong usage, or tenure itself failed
  128+n  ended by signal n`

// exitError is an error that knows its exit code. Without an error in it there is nothing to print.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitWith ends the command with a code and no message.
func exitWith(code int) error {
	if code == 0 {
		return nil
	}
	return &exitError{code: code}
}

// failf ends the command with a code and a message, which says what to do about it.
func failf(code int, format string, args ...any) error {
	return &exitError{code, fmt.Errorf(format, args...)}
}

// usagef is failf for wrong input.
func usagef(format string, args ...any) error { return failf(codeFailed, format, args...) }

// storeFailed marks an error of the store, unless it is known to mean something else.
func storeFailed(err error) error {
	_, decided := errors.AsType[*exitError](err)
	switch {
	case err == nil || decided || exitCode(err) != codeFailed || isAny(err, tenure.ErrConfig, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return failf(codeStore, "the store did not answer in time, see --store-timeout: %w", err)
	}
	return &exitError{codeStore, err}
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// errOverdue is why the context of a bounded command has ended.
var errOverdue = errors.New("the time was over")

// known are the errors that have an exit code of their own, the most telling first.
var known = []struct {
	err  error
	code int
}{
	{democmd.ErrBroken, democmd.OverlapCode},
	{tenure.ErrPermanent, codeStore},
	{tenure.ErrConfig, codeFailed},
	{tenure.ErrNotLeader, codeVacant},
	{tenure.ErrHeld, codeRefused},
	{tenure.ErrNotTransferred, codeRefused},
	{tenure.ErrGrade, codeStore},
	{errOverdue, codeTimeout},
}

// exitCode returns the exit code of the error of exec.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit.code
	}
	if caught, ok := errors.AsType[ending.Signal](err); ok {
		return caught.ExitCode()
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			return k.code
		}
	}
	return codeFailed
}

// conclude prints the error, if there is something to say, and returns the exit code.
func conclude(stderr io.Writer, err error) int {
	if message := describe(err); message != "" {
		fmt.Fprintln(stderr, "tenure: "+message)
	}
	return exitCode(err)
}

// describe returns the error as one line, without the names of packages that the user does not know.
func describe(err error) string {
	if err == nil {
		return ""
	}
	if exit, ok := errors.AsType[*exitError](err); ok && exit.err == nil {
		return ""
	}
	if _, ok := errors.AsType[ending.Signal](err); ok {
		return ""
	}
	text := strings.TrimPrefix(err.Error(), "tenure: ")
	return printable(unwrapped.Replace(text))
}

// unwrapped makes one line of an error, without what its wrapping repeats.
var unwrapped = strings.NewReplacer(
	": tenure: permanent failure of the store: tenure: there is no such store", ": there is no such store",
	": tenure: ", ": ", "\n", "; ",
)
