package fence

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"

	"github.com/tenure-go/tenure"
)

// Names in an object's metadata. They consist of letters alone, which every object store, its headers and its client
// libraries pass on; letter case is not kept by all of them, and does not count.
const (
	// TokenKey holds the highest token that wrote the object, in decimal.
	TokenKey = "tenuretoken"
	// ElectionKey holds the name of the election that the token is of, escaped as in the query of a URL.
	ElectionKey = "tenureelection"
)

// ErrChanged: the object is not at the expected version. An [Objects] returns it, and [Put] then looks again.
var ErrChanged = errors.New("fence: the object was changed by somebody else")

// Objects is what [Put] asks of an object store: S3, Azure Blob, GCS and their like.
//
// A version has to change with every write, those of the same content and of metadata alone included. A generation
// does, and so does the entity tag of Azure Blob. The entity tag of S3 is a hash of the content alone: a new leader
// that writes what is there already leaves it as it was, and a stale one that looked before gets through. There the
// content itself has to differ from write to write, by holding the token for instance.
type Objects interface {
	// Head returns an object's metadata and version; of one that does not exist an empty version and no error.
	Head(ctx context.Context, name string) (metadata map[string]string, version string, err error)
	// Put writes an object whole if the version is the current one, an empty version: if there is none. Otherwise it
	// returns ErrChanged and writes nothing.
	Put(ctx context.Context, name string, content []byte, metadata map[string]string, version string) error
}

// Put writes an object unless a term with a higher token has written it: then the error is a [StaleError]. The check
// and the write are one conditional request, so that no time between them matters. It looks again as long as others
// are faster, until ctx ends. metadata is the caller's own, and is not changed.
//
// Other errors are those of objects, and of [Stamp].
func Put(
	ctx context.Context, objects Objects, name string, content []byte, metadata map[string]string,
	election string, token uint64,
) error {
	for {
		err := put(ctx, objects, name, content, metadata, election, token)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, ErrChanged) || ctx.Err() != nil:
			return fmt.Errorf("fence: writing object %q: %w", name, err)
		}
	}
}

func put(
	ctx context.Context, objects Objects, name string, content []byte, metadata map[string]string,
	election string, token uint64,
) error {
	present, version, err := objects.Head(ctx, name)
	if err != nil {
		return err
	}
	stamped, err := Stamp(present, metadata, election, token)
	if err != nil {
		return err
	}
	return objects.Put(ctx, name, content, stamped, version)
}

// Stamp returns the metadata to write an object with: that of the caller, with the token and its election. present is
// the metadata that the object has, nil if there is no object. The error is a [StaleError] if the object has a higher
// token; it wraps [tenure.ErrConfig] if the object belongs to another election, whose tokens cannot be compared, or if
// the caller's metadata, name or token is out of bounds; it is another one if the object's mark cannot be read.
//
// It only computes. The caller has to write on the condition that the object is still the one that present is of.
func Stamp(present, metadata map[string]string, election string, token uint64) (map[string]string, error) {
	if err := errors.Join(tenure.CheckElection(election), checkToken(token)); err != nil {
		return nil, err
	}
	if _, taken := lookUp(metadata, TokenKey, ElectionKey); taken {
		return nil, fmt.Errorf("%w: the metadata %q and %q belong to the guard", tenure.ErrConfig, TokenKey, ElectionKey)
	}
	owner, mark, err := ReadMark(present)
	switch {
	case err != nil:
		return nil, err
	case owner != "" && owner != election:
		return nil, fmt.Errorf("%w: the object belongs to election %q, not to %q", tenure.ErrConfig, owner, election)
	case mark > token:
		return nil, &StaleError{Resource: "the object", Token: token, Mark: mark}
	}
	stamped := maps.Clone(metadata)
	if stamped == nil {
		stamped = map[string]string{}
	}
	stamped[TokenKey], stamped[ElectionKey] = strconv.FormatUint(token, 10), url.QueryEscape(election)
	return stamped, nil
}

// ReadMark returns the election that an object belongs to and the highest token that wrote it, empty and 0 if no
// guarded write made it. The error says what of the mark cannot be read.
func ReadMark(metadata map[string]string) (election string, token uint64, err error) {
	text, marked := lookUp(metadata, TokenKey)
	escaped, owned := lookUp(metadata, ElectionKey)
	if !marked && !owned {
		return "", 0, nil
	}
	election, escaping := url.QueryUnescape(escaped)
	token, number := strconv.ParseUint(text, 10, 64)
	if err := errors.Join(escaping, number); err != nil || election == "" {
		return "", 0, fmt.Errorf("fence: the mark %q of election %q in the object's metadata is damaged", text, escaped)
	}
	return election, token, nil
}

// lookUp finds the first of the keys, in whatever letter case.
func lookUp(metadata map[string]string, keys ...string) (string, bool) {
	for name, value := range metadata {
		for _, key := range keys {
			if strings.EqualFold(name, key) {
				return value, true
			}
		}
	}
	return "", false
}
