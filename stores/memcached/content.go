package memcached

import (
	"errors"
	"fmt"

	"github.com/tenure-go/tenure"
)

// format is the version of content's form. It rises when an older reader could act wrongly.
const format = 1

func (c content) check(election string) error {
	switch {
	case c.Format == 0:
		return errors.New(`it has no field "tenure_memcached"`)
	case c.Format > format:
		return fmt.Errorf("it has format %d, this version reads up to %d: upgrade tenure", c.Format, format)
	case c.Election != election:
		return fmt.Errorf("it belongs to the election %q", c.Election)
	case c.Version == "" || c.Record == nil:
		return errors.New("it has no version or no record")
	}
	return nil
}

// foreign is the error for an item that was not written by this store.
func foreign(key string, err error) error {
	return tenure.Permanent(fmt.Errorf("the item %q is no election's record (%w): choose another prefix", key, err))
}
