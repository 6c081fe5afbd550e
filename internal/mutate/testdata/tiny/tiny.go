// Package tiny has mutants of every fate.
package tiny

// Sum is tested well. A mutant of it loops for ever.
func Sum(n int) (sum int) {
	for n > 0 {
		sum += n
		n--
	}
	return sum
}

// Even is tested badly.
func Even(n int) bool { return n%2 == 0 }

// Never is not tested.
func Never(n int) int { return n + 1 }

// First is not tested either. It does not compile without its if.
func First(list []int) int {
	for _, n := range list {
		if n > 0 {
			return n
		}
	}
	return 0
}

// Pinned is judged by the program alone.
func Pinned() int {
	pinned := 1
	pinned = 2
	return pinned
}
