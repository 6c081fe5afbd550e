package dualleader

import (
	"reflect"
	"runtime"
	"strings"
)

// Size is what one election takes at rest.
type Size struct{ Bytes, Goroutines float64 }

// profileAll has every allocation profiled from now on, for used to tell whose it is.
func profileAll() (stop func()) {
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	return func() { runtime.MemProfileRate = rate }
}

// used is what is in use of heap and stacks without what the harness holds, and how many goroutines there are.
func used() Size {
	runtime.GC()
	runtime.GC() // the second one shrinks the stacks of goroutines at rest, and brings the profile up to date
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Size{float64(m.HeapAlloc+m.StackInuse) - harness(), float64(runtime.NumGoroutine())}
}

// since is what each of the elections has added.
func (s Size) since(before Size, elections int) Size {
	n := float64(elections)
	return Size{(s.Bytes - before.Bytes) / n, (s.Goroutines - before.Goroutines) / n}
}

// harness is how much is in use of the heap that does not belong to a library.
func harness() float64 {
	var bytes int64
	for _, r := range inUse() {
		if carries(r.Stack()) {
			bytes += r.InUseBytes()
		}
	}
	return float64(bytes)
}

// inUse is the profile of what has not been freed, with room for what is new since it was asked how much that is.
func inUse() []runtime.MemProfileRecord {
	n, _ := runtime.MemProfile(nil, false)
	for {
		records := make([]runtime.MemProfileRecord, n+n/10+10)
		got, ok := runtime.MemProfile(records, false)
		if ok {
			return records[:got]
		}
		n = got
	}
}

// carries tells whether what was allocated there is none of a library's. That is what this package allocates, by itself
// or by calling the standard library: servers, the network, the calls and subscriptions under way in it, and the few
// lines that use the library. It is also what the runtime has for goroutines, which it keeps for later ones when they
// have ended, so that whoever is measured first would pay for all.
func carries(stack []uintptr) bool {
	frames := runtime.CallersFrames(stack)
	ofRuntime := true
	for {
		frame, more := frames.Next()
		switch {
		case strings.HasPrefix(frame.Function, here):
			return true
		case !standard(frame.Function):
			return false
		}
		ofRuntime = ofRuntime && strings.HasPrefix(frame.Function, "runtime.")
		if !more {
			return ofRuntime
		}
	}
}

// here is how the names of this package's functions begin.
var here = reflect.TypeFor[Size]().PkgPath() + "."

// standard tells whether a function is one of the standard library, whose paths begin without a dot.
func standard(function string) bool {
	domain, _, found := strings.Cut(function, "/")
	return !found || !strings.Contains(domain, ".")
}
