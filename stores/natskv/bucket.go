package natskv

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
)

const (
	// leastBytes and leastValue are the smallest limits of a bucket that are accepted: room for some thousands of
	// elections, and for a record with long metadata.
	leastBytes = 1 << 20
	leastValue = 16 << 10
)

// ready has the bucket looked at once, or again after it was found missing. One call does it; others wait for it.
func (s *Store) ready(ctx context.Context) error {
	if err := s.usable(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil || s.prepared.Load() {
		return err
	}
	select {
	case s.preparing <- struct{}{}:
		defer func() { <-s.preparing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.prepared.Load() {
		return nil
	}
	if err := s.prepare(ctx); err != nil {
		return fmt.Errorf("bucket %q: %w", s.bucket, err)
	}
	s.prepared.Store(true)
	return nil
}

// prepare finds the bucket or makes it, and checks it.
func (s *Store) prepare(ctx context.Context) error {
	info, err := s.info(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if info, err = s.create(ctx); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if reason := unfit(info.Config, s.bucket); reason != "" {
		return tenure.Permanent(errors.New(reason))
	}
	return s.checkAsked(info.Config)
}

func (s *Store) info(ctx context.Context) (*jetstream.StreamInfo, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	stream, err := s.js.Stream(ctx, s.stream())
	if err != nil {
		return nil, permanent(s.explained(err))
	}
	return stream.CachedInfo(), nil
}

// create makes the bucket. If another process has made one meanwhile, it is that one.
func (s *Store) create(ctx context.Context) (*jetstream.StreamInfo, error) {
	if s.config.existing {
		return nil, tenure.Permanent(fmt.Errorf("%w: it does not exist, and is not to be made", tenure.ErrNoStore))
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	stream, err := s.js.CreateStream(ctx, s.wanted())
	switch {
	case errors.Is(err, jetstream.ErrStreamNameAlreadyInUse):
		return s.info(ctx)
	case err != nil:
		return nil, fmt.Errorf("making it: %w", permanent(s.explained(err)))
	}
	return stream.CachedInfo(), nil
}

// wanted is a bucket as every client of the key-value store makes it, but for two things. It does not allow reads that
// any replica may answer. And its sequences begin at the time in microseconds, so that they are never those of a
// bucket of the same name that was deleted: no election is written a million times a second.
func (s *Store) wanted() jetstream.StreamConfig {
	c := jetstream.StreamConfig{
		Name: s.stream(), Subjects: []string{s.subject(">")}, Description: s.config.description,
		MaxMsgsPerSubject: 1, MaxMsgs: -1, MaxBytes: -1, MaxMsgSize: -1, MaxConsumers: -1,
		Discard: jetstream.DiscardNew, AllowRollup: true, DenyDelete: true,
		Replicas: max(s.config.replicas, 1), FirstSeq: uint64(time.Now().UnixMicro()),
	}
	if s.config.storage != nil {
		c.Storage = *s.config.storage
	}
	if s.config.cluster != "" || len(s.config.tags) > 0 {
		c.Placement = &jetstream.Placement{Cluster: s.config.cluster, Tags: s.config.tags}
	}
	return c
}

// checkAsked refuses a bucket that exists and is not what the options say.
func (s *Store) checkAsked(c jetstream.StreamConfig) error {
	switch {
	case s.config.replicas != 0 && s.config.replicas != c.Replicas:
		return tenure.Permanent(fmt.Errorf("it exists with %d replicas, and %d are asked for: change it with "+
			"nats stream edit %s --replicas=%[2]d, or change the option", c.Replicas, s.config.replicas, s.stream()))
	case s.config.storage != nil && *s.config.storage != c.Storage:
		return tenure.Permanent(fmt.Errorf("it exists with %v storage, and %v is asked for: NATS cannot change that, "+
			"so use another bucket, or change the option", c.Storage, *s.config.storage))
	}
	return nil
}

// unfit returns why a bucket with such settings cannot hold elections, empty if it can.
func unfit(c jetstream.StreamConfig, bucket string) string {
	if reason := unwritable(c, bucket); reason != "" {
		return reason
	}
	return lossy(c)
}

// unwritable returns why writes would not be those of a key-value store.
func unwritable(c jetstream.StreamConfig, bucket string) string {
	switch {
	case c.Mirror != nil:
		return "it is a mirror, which cannot compare and swap: use the bucket that it mirrors"
	case len(c.Sources) > 0:
		return "it takes in what is written to other streams, past compare-and-swap"
	case len(c.Subjects) != 1 || c.Subjects[0] != "$KV."+bucket+".>":
		return fmt.Sprintf("its stream takes the subjects %q, so it is no bucket of the key-value store", c.Subjects)
	case c.SubjectTransform != nil:
		return "its stream transforms subjects"
	case c.MaxMsgsPerSubject < 1:
		return "its stream keeps every message of a subject, so it is no bucket of the key-value store"
	case c.DiscardNewPerSubject:
		return "its stream refuses to replace a value (discard new per subject)"
	case c.NoAck:
		return "its stream does not acknowledge writes"
	case c.Sealed:
		return "its stream is sealed, so nothing can be written"
	case c.AllowMsgCounter:
		return "its stream holds counters"
	}
	return ""
}

// lossy returns which setting could lose a record, or the place for its next renewal.
func lossy(c jetstream.StreamConfig) string {
	switch {
	case c.MaxAge > 0:
		return fmt.Sprintf("it drops values after %v (TTL): an election's record, and with it the fencing token, must "+
			"not expire", c.MaxAge)
	case c.SubjectDeleteMarkerTTL > 0:
		return fmt.Sprintf("it is made for values that expire (limit marker TTL %v)", c.SubjectDeleteMarkerTTL)
	case c.Retention != jetstream.LimitsPolicy:
		return fmt.Sprintf("its stream drops messages that were consumed (retention %v)", c.Retention)
	case c.Discard == jetstream.DiscardOld && (c.MaxBytes > 0 || c.MaxMsgs > 0):
		return "it drops the oldest values when it is full (discard policy old): set the policy to new"
	case c.MaxMsgs > 0:
		return fmt.Sprintf("it holds at most %d values", c.MaxMsgs)
	case c.MaxBytes > 0 && c.MaxBytes < leastBytes:
		return fmt.Sprintf("it holds at most %d bytes: at least %d are needed, or renewals fail", c.MaxBytes, leastBytes)
	case c.MaxMsgSize > 0 && c.MaxMsgSize < leastValue:
		return fmt.Sprintf("a value has at most %d bytes: at least %d are needed, or records do not fit",
			c.MaxMsgSize, leastValue)
	}
	return ""
}
