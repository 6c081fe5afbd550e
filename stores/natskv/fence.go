package natskv

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/fence"
)

var _ fence.Objects = Objects{}

// Objects lets [fence.Put] write values of a bucket, which need not be that of the elections. A value's metadata are
// the headers of its message, which clients of the key-value store pass over. A write by other means, a deletion, and
// the age at which a bucket drops its values take the mark away. It needs the rights to ask about the bucket's stream,
// to get its messages, and to publish to the keys.
type Objects struct {
	JetStream jetstream.JetStream
	Bucket    string
}

// Head implements [fence.Objects]. A deleted key has the version of its marker, which a write has to replace.
func (o Objects) Head(ctx context.Context, name string) (metadata map[string]string, version string, err error) {
	if err := checkKey(name); err != nil {
		return nil, "", err
	}
	stream, err := o.JetStream.Stream(ctx, streamOf(o.Bucket))
	if err != nil {
		return nil, "", fmt.Errorf("natskv: bucket %q: %w", o.Bucket, err)
	}
	last, err := stream.GetLastMsgForSubject(ctx, subjectOf(o.Bucket, name))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, "", nil
	case err != nil:
		return nil, "", fmt.Errorf("natskv: reading %q: %w", name, err)
	}
	metadata = make(map[string]string)
	for header := range last.Header {
		if !reserved(header) {
			metadata[header] = last.Header.Get(header)
		}
	}
	return metadata, strconv.FormatUint(last.Sequence, 10), nil
}

// Put implements [fence.Objects]. The names in the metadata have to be fit for headers: letters, digits, hyphens and
// underscores, and none that begins with "Nats-" or "KV-", which mean something to the server.
func (o Objects) Put(
	ctx context.Context, name string, content []byte, metadata map[string]string, version string,
) error {
	header, err := headerOf(metadata)
	if err != nil {
		return err
	}
	if err := checkKey(name); err != nil {
		return err
	}
	expected, err := sequenceOf(version)
	if err != nil {
		return err
	}
	message := &nats.Msg{Subject: publishPrefix(o.JetStream, o.Bucket) + name, Header: header, Data: content}
	_, err = send(ctx, o.JetStream, message, streamOf(o.Bucket), expected)
	var refusal *jetstream.APIError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refusal) && errors.Is(refused(refusal), tenure.ErrConflict):
		return fence.ErrChanged
	}
	return fmt.Errorf("natskv: writing %q: %w", name, err)
}

func sequenceOf(version string) (uint64, error) {
	if version == "" {
		return 0, nil
	}
	sequence, err := strconv.ParseUint(version, 10, 64)
	if err != nil || sequence == 0 {
		return 0, fmt.Errorf("natskv: %w: %q is no version that Head returned", tenure.ErrConfig, version)
	}
	return sequence, nil
}

var (
	headerName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	// keyForm is what clients of the key-value store accept as a key.
	keyForm = regexp.MustCompile(`^[-/_=a-zA-Z0-9]+(\.[-/_=a-zA-Z0-9]+)*$`)
)

// reserved reports whether a header means something to the server or to clients of the key-value store.
func reserved(header string) bool {
	lower := strings.ToLower(header)
	return strings.HasPrefix(lower, "nats-") || strings.HasPrefix(lower, "kv-")
}

func headerOf(metadata map[string]string) (nats.Header, error) {
	header := make(nats.Header, len(metadata))
	for name, value := range metadata {
		if reserved(name) || !headerName.MatchString(name) || strings.ContainsAny(value, "\r\n") {
			return nil, fmt.Errorf("natskv: %w: the metadata %q: %q cannot be a header", tenure.ErrConfig, name, value)
		}
		header.Set(name, value)
	}
	return header, nil
}

func checkKey(name string) error {
	if !keyForm.MatchString(name) {
		return fmt.Errorf(`natskv: %w: %q is no key: want letters, digits and -/_=, in parts joined by single dots`,
			tenure.ErrConfig, name)
	}
	return nil
}
