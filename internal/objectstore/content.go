package objectstore

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tenure-go/tenure"
)

// format is the version of content's form. It rises when an older reader could act wrongly.
const format = 1

// content is what an object holds: a record, or the floor.
type content struct {
	Format   int            `json:"tenure_object"`
	Nonce    string         `json:"nonce"`
	Election string         `json:"election,omitempty"`
	Record   *tenure.Record `json:"record,omitempty"`
	Floor    uint64         `json:"floor,omitempty"`
}

// encode gives the content a nonce of its own, so that no tag ever recurs.
func encode(c content) ([]byte, error) {
	c.Format, c.Nonce = format, rand.Text()
	text, err := json.Marshal(c)
	if err == nil && len(text) > MaxSize {
		err = fmt.Errorf("the record takes %d bytes, more than %d", len(text), MaxSize)
	}
	if err != nil {
		return nil, tenure.Permanent(err)
	}
	return text, nil
}

func decode(key string, body []byte) (content, error) {
	var c content
	err := json.Unmarshal(body, &c)
	switch {
	case err != nil:
	case c.Format == 0:
		err = errors.New(`it has no field "tenure_object"`)
	case c.Format > format:
		err = fmt.Errorf("it has format %d, this version reads up to %d: upgrade tenure", c.Format, format)
	}
	if err != nil {
		return content{}, foreign(key, err)
	}
	return c, nil
}

// decodeRecord reads the object of an election.
func decodeRecord(key, election string, body []byte) (tenure.Record, error) {
	c, err := decode(key, body)
	switch {
	case err != nil:
		return tenure.Record{}, err
	case c.Election != election || c.Record == nil:
		return tenure.Record{}, foreign(key, fmt.Errorf("it holds no record of %q, but of %q", election, c.Election))
	}
	return *c.Record, nil
}

// foreign is the error for an object that is damaged or was not written by this store.
func foreign(key string, err error) error {
	return tenure.Permanent(fmt.Errorf(
		"the object %s is damaged or foreign (%w): it was left as it is; restore it, or move it away", key, err))
}
