package tenure

import "fmt"

// Grade ranks how far a store's acknowledged writes can be relied upon. A higher grade is a stronger one.
type Grade uint8

const (
	// GradeUnknown: the store cannot tell.
	GradeUnknown Grade = iota
	// GradeBestEffort: the store may drop the record by itself.
	GradeBestEffort
	// GradeUntilFailover: exclusive until an asynchronous replica is promoted, power is lost before a sync, or a
	// backup is restored.
	GradeUntilFailover
	// GradeExclusive: acknowledged writes survive; one leader and rising tokens hold through faults of the store.
	GradeExclusive
)

var gradeNames = [...]string{"unknown", "best effort", "exclusive until fail-over", "exclusive"}

// String returns the grade as documentation and commands print it.
func (g Grade) String() string {
	if int(g) < len(gradeNames) {
		return gradeNames[g]
	}
	return fmt.Sprintf("grade %d", uint8(g))
}

// Guarantee is a store's answer to how strong its guarantee is, and why.
type Guarantee struct {
	// Grade is the strongest grade that all reasons allow.
	Grade Grade
	// Reasons are sentences for people, the most limiting one first.
	Reasons []string
}
