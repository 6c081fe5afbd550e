package file

import (
	"os"
	"strings"
)

// bootID names this boot of this kernel, differently for every boot of every host. Containers share it with their
// host, as they share the kernel and its locks; where one is given a boot ID of its own, nobody vouches for anybody.
//
// An earlier boot of the same host would prove death as well, but nothing certain names a host: machine IDs are cloned
// with images, and a volume can be taken from a host that still runs and given to another with the same one.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
