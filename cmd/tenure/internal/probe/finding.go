package probe

import "fmt"

// Result is what a check found.
type Result string

const (
	// OK: as it should be.
	OK Result = "ok"
	// Note: good to know.
	Note Result = "note"
	// Warning: it works, but not as well as it could or as one might think.
	Warning Result = "warning"
	// Failed: elections in this store are not safe.
	Failed Result = "failed"
)

// Finding is the outcome of one check. Its JSON form is stable, and so are the names of the checks.
type Finding struct {
	Check  string `json:"check"`
	Result Result `json:"result"`
	Detail string `json:"detail"`
}

func found(check string, result Result, format string, args ...any) Finding {
	return Finding{check, result, fmt.Sprintf(format, args...)}
}
