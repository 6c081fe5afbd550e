// Package output keeps what processes and loggers write while a test looks at it.
package output

import (
	"bytes"
	"strings"
	"sync"
)

// Buffer can be read while it is written to. Its zero value is empty.
type Buffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write implements [io.Writer].
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

// String returns all that was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// HasLine tells whether there is a line that has all the texts.
func (b *Buffer) HasLine(texts ...string) bool {
	for line := range strings.Lines(b.String()) {
		if hasAll(line, texts) {
			return true
		}
	}
	return false
}

func hasAll(line string, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(line, text) {
			return false
		}
	}
	return true
}
