//go:build unix

package guard

import (
	"encoding/json"
	"errors"
	"os"
	"syscall"
)

// pipe carries messages to another process, one line each.
type pipe struct{ file *os.File }

// put writes a message without ever waiting. It is shorter than what a pipe takes as a whole, so it arrives entire or
// not at all.
func (p *pipe) put(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	conn, err := p.file.SyscallConn()
	if err != nil {
		return ErrEnding // closed
	}
	var written error
	if err := conn.Write(func(fd uintptr) bool {
		_, written = syscall.Write(int(fd), append(line, '\n'))
		return true
	}); err != nil {
		return ErrEnding
	}
	switch {
	case errors.Is(written, syscall.EAGAIN):
		return ErrStalled
	case errors.Is(written, syscall.EPIPE):
		return ErrEnding
	}
	return written
}

func (p *pipe) close() { _ = p.file.Close() }

// receive reads messages until there are no more: until the other process is gone, or what it writes makes no sense.
func receive[T any](decoder *json.Decoder) <-chan T {
	messages := make(chan T)
	go func() {
		defer close(messages)
		for {
			var message T
			if decoder.Decode(&message) != nil {
				return
			}
			messages <- message
		}
	}()
	return messages
}
