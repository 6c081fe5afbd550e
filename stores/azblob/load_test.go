package azblob

import (
	"testing"

	"github.com/tenure-go/tenure/internal/objectstore/objecttest"
)

func TestRequestsPerCandidateMinute(t *testing.T) { objecttest.Load(t, serverUnderTest(t)) }
