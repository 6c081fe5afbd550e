package storeurl

import (
	"fmt"
	"time"
)

// Duration reads one as Go writes it, and says how if it is none. The command reads its flags by it, too.
func Duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil { // whose text is that of the Go package
		return 0, fmt.Errorf("%q is no duration: give it a unit, as in 500ms, 5s or 1m30s", text)
	}
	return d, nil
}
