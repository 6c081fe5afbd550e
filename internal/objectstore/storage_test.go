package objectstore

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
)

// storage is an object storage in memory, with the faults that storages have. Its tags are digests of the content.
type storage struct {
	ignoresIfMatch, ignoresIfNoneMatch, ignoresDeleteCondition bool

	before func(op, key string) error // called without the lock, before each operation

	mu      sync.Mutex
	objects map[string]Object
	written map[string]time.Time
	puts    int
}

func newStorage() *storage {
	return &storage{objects: map[string]Object{}, written: map[string]time.Time{}}
}

func (s *storage) begin(op, key string) error {
	if s.before == nil {
		return nil
	}
	return s.before(op, key)
}

func (s *storage) Get(ctx context.Context, key string) (Object, error) {
	if err := s.begin("get", key); err != nil {
		return Object{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	object, ok := s.objects[key]
	if !ok {
		return Object{}, ErrMissing
	}
	return object, ctx.Err()
}

func (s *storage) Put(ctx context.Context, key string, body []byte, old string) (string, error) {
	if err := s.begin("put", key); err != nil {
		return "", err
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	current, exists := s.objects[key]
	switch {
	case old == "" && exists && !s.ignoresIfNoneMatch, old != "" && current.Tag != old && !s.ignoresIfMatch:
		return "", tenure.ErrConflict
	}
	s.puts++
	tag := fmt.Sprintf("%x", body)
	s.objects[key], s.written[key] = Object{body, tag}, time.Now()
	return tag, nil
}

func (s *storage) Delete(_ context.Context, key, old string) error {
	if err := s.begin("delete", key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[key].Tag != old && !s.ignoresDeleteCondition {
		return tenure.ErrConflict
	}
	delete(s.objects, key)
	return nil
}

func (s *storage) List(_ context.Context, prefix string, each func(Entry)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.objects {
		if strings.HasPrefix(key, prefix) {
			each(Entry{key, s.written[key]})
		}
	}
	return nil
}
