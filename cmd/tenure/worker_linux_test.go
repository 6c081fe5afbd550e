package main

import (
	"encoding/json"
	"os"
	osexec "os/exec"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

func init() { roles["worker"], roles["grandchild"], roles["hearing"] = worker, grandchild, hearing }

// hearing is tenure as it is if it did not inherit that hang-ups and interrupts are ignored, as what a shell runs in the
// background does.
func hearing() {
	signal.Notify(make(chan os.Signal, 2), syscall.SIGHUP, syscall.SIGINT)
	main()
}

// beatEvery is how often a worker says that it is alive.
const beatEvery = 2 * time.Millisecond

// entry is a line in the log of all workers of a test.
type entry struct {
	At    guard.Instant `json:"at"` // on the clock that all processes share
	Event string        `json:"event"`
	Token uint64        `json:"token"`
	ID    string        `json:"id"` // of the candidate
	PID   int           `json:"pid"`
	Guard int           `json:"guard"`
}

// What a worker says.
const (
	begun      = "begin"
	beat       = "beat"
	overlapped = "overlap" // another worker, or a child of one, is alive
	told       = "told"    // it got the signal to stop
	ended      = "end"
)

// worker is the command that is run under an election. It holds a lock for as long as it lives, as its child in
// another session does, so that no two workers can be alive unnoticed. WORKER_STUBBORN has it ignore that it is told to
// stop; WORKER_STATUS is what it exits with otherwise.
func worker() {
	token, _ := strconv.ParseUint(os.Getenv("TENURE_TOKEN"), 10, 64)
	w := &entry{Token: token, ID: os.Getenv("TENURE_ID"), PID: os.Getpid(), Guard: os.Getppid()}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	lock, err := os.OpenFile(os.Getenv("WORKER_LOG")+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		panic(err)
	}
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		w.say(overlapped)
	}
	w.say(begun)
	beget(lock)
	for ticker := time.NewTicker(beatEvery); ; {
		select {
		case <-ticker.C:
			w.say(beat)
		case <-stop:
			w.say(told)
			if os.Getenv("WORKER_STUBBORN") == "" {
				w.say(ended)
				status, _ := strconv.Atoi(os.Getenv("WORKER_STATUS"))
				os.Exit(status)
			}
		}
	}
}

func (e entry) say(event string) {
	line, _ := json.Marshal(entry{guard.Now(), event, e.Token, e.ID, e.PID, e.Guard})
	log, err := os.OpenFile(os.Getenv("WORKER_LOG"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		panic(err)
	}
	defer log.Close()
	if _, err := log.Write(append(line, '\n')); err != nil {
		panic(err)
	}
}

// beget starts a child in another session that holds the lock too.
func beget(lock *os.File) {
	child := osexec.Command(os.Args[0])
	child.Env = append(os.Environ(), roleVariable+"=grandchild")
	child.ExtraFiles = []*os.File{lock}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		panic(err)
	}
}

// grandchild ignores whatever can be ignored.
func grandchild() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	time.Sleep(time.Hour)
}

// readLog returns the entries of all workers so far, in the order of time.
func readLog(path string) []entry {
	file, err := os.Open(path)
	if err != nil {
		return nil // no worker yet
	}
	defer file.Close()
	var entries []entry
	for decoder := json.NewDecoder(file); ; {
		var e entry
		if decoder.Decode(&e) != nil {
			break
		}
		entries = append(entries, e)
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return int(a.At - b.At) })
	return entries
}
