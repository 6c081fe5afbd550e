package guard_test

import (
	"os"
	"testing"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// roles are what a process of the test program can be besides a guard and the tests themselves.
var roles = map[string]func(config string){}

func TestMain(m *testing.M) {
	guard.Main()
	if len(os.Args) == 3 {
		if play, ok := roles[os.Args[1]]; ok {
			play(os.Args[2])
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}
