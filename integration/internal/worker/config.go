//go:build linux

package worker

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"
)

// Variable is that of the environment in which a process finds what it is to be.
const Variable = "TENURE_CHAOS_WORKER"

// Config is what a process is told.
type Config struct {
	// Command has the process be the command that tenure run runs, instead of a candidate.
	Command bool `json:"command,omitempty"`
	// Dir is where histories and logs go.
	Dir string `json:"dir"`
	// Name is the candidate's ID and the name in histories, Life how often it has been started. A command finds its
	// life by itself.
	Name string `json:"name"`
	Life int    `json:"life,omitempty"`

	Store    string        `json:"store"` // for people
	URL      string        `json:"url"`
	Election string        `json:"election"`
	TTL      time.Duration `json:"ttl"`
	// Register is the address of the registers.
	Register string `json:"register"`
	// Rate is that of the process's clocks, 1 if they are right; 0 has it use the system's. Otherwise its wall clock can
	// be moved.
	Rate float64 `json:"rate,omitempty"`
	// AskGrade has it ask the store for its grade.
	AskGrade bool `json:"ask_grade,omitempty"`
	// Unsafe are the protections that are switched off.
	Unsafe []string `json:"unsafe,omitempty"`
}

// Protections that a candidate can go without. Each has to be found by a check.
const (
	// ActWithoutAsking: it goes on acting, and believing that it leads, when its context has ended.
	ActWithoutAsking = "act-without-asking"
	// BlindSwap: its store compares first and swaps later, and does not push changes.
	BlindSwap = "blind-swap"
	// SlowClock: its clocks run at less than half the right rate while it leads, far beyond what candidates allow for.
	SlowClock = "slow-clock"
	// Leak: each term leaves goroutines and open files behind.
	Leak = "leak"
	// Storm: every call to the store is made many times.
	Storm = "storm"
	// GiveUp: the first failure of the store is the last that it does.
	GiveUp = "give-up"
)

func (c *Config) unsafe(name string) bool { return slices.Contains(c.Unsafe, name) }

// Environment returns the variable's setting.
func (c *Config) Environment() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // it has nothing that cannot be told
	}
	return Variable + "=" + string(text)
}

// Wanted reports whether this process is to be a worker.
func Wanted() bool { return os.Getenv(Variable) != "" }

// Main is the whole of a process that is [Wanted]. It returns the exit status.
func Main() int {
	var c Config
	if err := json.Unmarshal([]byte(os.Getenv(Variable)), &c); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", Variable, err)
		return 2
	}
	run := runCandidate
	if c.Command {
		run = runCommand
	}
	if err := run(&c); err != nil {
		fmt.Fprintf(os.Stderr, "%s %d: %v\n", c.Name, c.Life, err)
		return 1
	}
	return 0
}
