package sqltest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/sqlstore"
)

// processVariable makes this test binary one of the processes that a test is about.
const processVariable = "TENURE_SQLTEST_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(processVariable) == "" {
		os.Exit(m.Run())
	}
	if err := process(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// process does what it is told, and prints a line for each thing done.
func process(command, url, argument string) error {
	// A process that its test has lost ends by itself.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	store, err := sqlstore.Open(ctx, url)
	if err != nil {
		return err
	}
	defer store.Close()
	switch command {
	case "count":
		return count(ctx, store, argument)
	case "stand":
		return stand(ctx, store, argument)
	}
	return fmt.Errorf("unknown command %q", command)
}

// count adds to the number of renewals, time and again, and prints each number that it has written.
func count(ctx context.Context, store tenure.Store, times string) error {
	left, err := strconv.Atoi(times)
	for left > 0 && err == nil {
		var current tenure.Snapshot
		if current, err = store.Load(ctx, "billing"); err == nil {
			record := current.Record
			record.Renewals++
			if _, err = store.CompareAndSwap(ctx, "billing", current.Version, record); err == nil {
				fmt.Println(record.Renewals)
				left--
			}
		}
		if errors.Is(err, tenure.ErrConflict) || errors.Is(err, tenure.ErrNotApplied) {
			err = nil
		}
	}
	return err
}

// stand runs a candidate whose work is to hold a file that only one process can create.
func stand(ctx context.Context, store tenure.Store, seat string) error {
	candidate, err := tenure.New(store, "billing", tenure.WithTTL(fleet.TTL))
	if err != nil {
		return err
	}
	return candidate.Run(ctx, func(ctx context.Context, term tenure.Term) error {
		file, err := os.OpenFile(seat, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("two lead at once: %w", err)
		}
		defer os.Remove(seat)
		defer file.Close()
		fmt.Println(term.Token)
		<-ctx.Done()
		return nil
	})
}

// spawn starts a process, which is killed at the end of the test, and returns its lines.
func spawn(t *testing.T, args ...string) (*exec.Cmd, <-chan string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), processVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 10_000)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			lines <- scanner.Text()
		}
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		for range lines { // until it has ended
			continue
		}
	})
	return cmd, lines
}

// Several processes count in one record, and some are killed in mid-write. No write that was acknowledged is lost, none
// is overwritten by one that had not seen it, and the database stays sound.
func TestSQLiteProcessesAreKilled(t *testing.T) {
	url := "sqlite://" + filepath.ToSlash(filepath.Join(t.TempDir(), "elections.db"))
	store := opened(t, url)
	const processes, killed, times = 3, 6, 60
	var all []<-chan string
	for range processes {
		_, lines := spawn(t, "count", url, strconv.Itoa(times))
		all = append(all, lines)
	}
	numbers, inFlight := []int{}, 0
	for i := range killed {
		victim, lines := spawn(t, "count", url, "1000000")
		for range 3 + i*4 {
			numbers = append(numbers, number(t, <-lines))
		}
		if err := victim.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		inFlight++ // it may have written one that it could not report
		for line := range lines {
			numbers = append(numbers, number(t, line))
		}
	}
	for _, lines := range all {
		for line := range lines {
			numbers = append(numbers, number(t, line))
		}
	}
	slices.Sort(numbers)
	if unique := slices.Compact(slices.Clone(numbers)); len(unique) != len(numbers) {
		t.Errorf("%d numbers were written twice", len(numbers)-len(unique))
	}
	found, err := store.Load(within(t), "billing")
	if err != nil {
		t.Fatal(err)
	}
	if n := int(found.Record.Renewals); n < len(numbers) || n > len(numbers)+inFlight {
		t.Errorf("%d writes were acknowledged, and at most %d more were made, but the number is %d", len(numbers), inFlight, n)
	}
	var verdict string
	d := sqlite(t)
	d.dsn = "file:" + strings.TrimPrefix(url, "sqlite://")
	if err := d.open(t).QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("the database is %q, %v", verdict, err)
	}
}

func number(t *testing.T, line string) int {
	t.Helper()
	n, err := strconv.Atoi(line)
	if err != nil {
		t.Fatalf("the process says %q", line)
	}
	return n
}

// Candidates in processes of their own: whoever leads is killed, and another takes over under a higher token.
func TestSQLiteLeadersAreKilled(t *testing.T) {
	dir := t.TempDir()
	url, seat := "sqlite://"+filepath.ToSlash(filepath.Join(dir, "elections.db")), filepath.Join(dir, "seat")
	type message struct {
		from int
		line string
	}
	messages := make(chan message, 100)
	var commands []*exec.Cmd
	start := func() {
		cmd, lines := spawn(t, "stand", url, seat)
		from := len(commands)
		commands = append(commands, cmd)
		go func() {
			for line := range lines {
				messages <- message{from, line}
			}
		}()
	}
	for range 3 {
		start()
	}
	last := 0
	for range 3 {
		var leader message
		select {
		case leader = <-messages:
		case <-time.After(patience):
			t.Fatal("nobody leads")
		}
		token := number(t, leader.line)
		if token <= last {
			t.Errorf("token %d follows %d", token, last)
		}
		last = token
		if err := commands[leader.from].Process.Kill(); err != nil {
			t.Fatal(err)
		}
		// The killed leader could not give the seat up. Its lease stands for long after this.
		if err := os.Remove(seat); err != nil {
			t.Fatal(err)
		}
		start()
	}
}
