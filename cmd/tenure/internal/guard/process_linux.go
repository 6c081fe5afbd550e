package guard

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// process is one row of the system's process table. Whether it is alive cannot be seen there: one whose first thread
// has exited looks like a zombie while the others run on.
type process struct {
	pid, parent, group, session int
}

// processes reads the process table. It is no snapshot: what is forked while it is read may be missing.
func processes() []process {
	directory, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer directory.Close()
	names, _ := directory.Readdirnames(-1)
	var all []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok {
			all = append(all, p)
		}
	}
	return all
}

func readProcess(pid int) (p process, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, false
	}
	// The second field is the program's name in parentheses, in which anything may stand.
	_, fields, ok := bytes.Cut(text[bytes.LastIndexByte(text, ')')+1:], []byte(" "))
	if !ok {
		return p, false
	}
	var state string
	if _, err := fmt.Sscan(string(fields), &state, &p.parent, &p.group, &p.session); err != nil {
		return p, false
	}
	p.pid = pid
	return p, true
}

// descendants returns the processes below ancestor, parents before their children.
func descendants(ancestor int) []process {
	return below(processes(), func(p process) bool { return p.parent == ancestor })
}

// below returns the processes that belongs selects and all that descend from them, parents before their children.
func below(all []process, belongs func(process) bool) []process {
	children := make(map[int][]process, len(all))
	var found []process
	for _, p := range all {
		if belongs(p) {
			found = append(found, p)
		} else {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i].pid]...)
	}
	return found
}
