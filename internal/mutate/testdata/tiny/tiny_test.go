package tiny

import (
	"os"
	"testing"
)

func TestSum(t *testing.T) {
	if Sum(3) != 6 {
		t.Error(Sum(3))
	}
}

func TestEven(t *testing.T) {
	if !Even(4) {
		t.Error("4 is even")
	}
}

func TestFails(t *testing.T) {
	if os.Getenv("TINY_FAILS") != "" {
		t.Error("as it was told to")
	}
}
