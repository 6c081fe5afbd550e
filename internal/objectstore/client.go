package objectstore

import (
	"context"
	"errors"
	"time"
)

// ErrMissing is what a [Client] returns for an object that does not exist.
var ErrMissing = errors.New("no such object")

// Client is what a [Store] asks of an object storage. Its errors are those of [tenure.Store]: in particular Put and
// Delete return [tenure.ErrConflict] exactly if the storage has refused the condition. No method repeats a request.
type Client interface {
	// Get returns an object, or ErrMissing.
	Get(ctx context.Context, key string) (Object, error)
	// Put writes an object if its tag is still old, or with an empty old if there is none, and returns the new tag.
	Put(ctx context.Context, key string, body []byte, old string) (tag string, err error)
	// Delete deletes an object if its tag is still old.
	Delete(ctx context.Context, key, old string) error
	// List calls each for all objects whose keys begin with prefix.
	List(ctx context.Context, prefix string, each func(Entry)) error
}

// Object is an object's content with the tag that belongs to it.
type Object struct {
	Body []byte
	Tag  string
}

// Entry is an object as a listing shows it.
type Entry struct {
	Key      string
	Modified time.Time // by the storage's clock
}

// MaxSize bounds an object in bytes, so that a foreign one is no burden. A Client returns one byte more at most.
const MaxSize = 1 << 20
