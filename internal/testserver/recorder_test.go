package testserver

import "fmt"

// recorder notes what would end the test.
type recorder struct {
	TB
	said   string
	failed bool
}

func (r *recorder) Skipf(format string, args ...any) { r.said = fmt.Sprintf(format, args...) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.said, r.failed = fmt.Sprintf(format, args...), true
}
