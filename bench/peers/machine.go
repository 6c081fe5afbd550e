package peers

import (
	"os"
	"strings"
)

// loadAverage returns Linux's three load averages.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 3 {
		return ""
	}
	return strings.Join(fields[:3], ", ")
}
