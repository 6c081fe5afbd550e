package bench

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine describes the machine in words, and not by its name.
func Machine() string {
	words := fmt.Sprintf("%d cores", runtime.NumCPU())
	if model := procField("/proc/cpuinfo", "model name"); model != "" {
		words += " of " + model
	}
	if memory := procField("/proc/meminfo", "MemTotal"); memory != "" {
		var kilobytes int
		if _, err := fmt.Sscan(memory, &kilobytes); err == nil {
			words += fmt.Sprintf(", %d GB of memory", (kilobytes+1<<19)>>20)
		}
	}
	return words + ", " + runtime.GOOS + "/" + runtime.GOARCH
}

// procField returns the first value of a name in a file of Linux's proc, empty where there is none.
func procField(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
