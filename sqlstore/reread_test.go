package sqlstore

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A busy database may refuse the reads at SERIALIZABLE for a while, and must not be waited for much longer than that.
func TestReadsOfABusyDatabaseAreRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Store{dialect: PostgreSQL{}}
		refusing := func(length time.Duration) (read func() error) {
			free := time.Now().Add(length)
			return func() error {
				if time.Now().Before(free) {
					return pgError("40001")
				}
				return nil
			}
		}
		if err := s.reread(t.Context(), refusing(400*time.Millisecond)); err != nil {
			t.Errorf("refused for 400 ms: %v", err)
		}
		began := time.Now()
		if err := s.reread(t.Context(), refusing(time.Hour)); err == nil {
			t.Error("no error from a database that refuses for an hour")
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("gave up after %v, want half a second", took)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.reread(ended, refusing(400*time.Millisecond)); err == nil {
			t.Error("no error although the caller gave up")
		}
		tries := 0
		broken := errors.New("broken")
		if err := s.reread(t.Context(), func() error { tries++; return broken }); !errors.Is(err, broken) || tries != 1 {
			t.Errorf("%v after %d tries, want what is no matter of repeating after one", err, tries)
		}
	})
}
