//go:build linux

package chaos

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/integration/internal/beds"
	"github.com/tenure-go/tenure/integration/internal/history"
	"github.com/tenure-go/tenure/integration/internal/nemesis"
)

// about says what the run is, and what has to happen in it.
func (r *run) about(ctx context.Context, kinds []string) *history.Run {
	g := r.grade(ctx)
	a := &history.Run{
		Store: r.Bed.Name + ": " + r.Bed.About, Server: r.server.Version, Grade: g.Grade.String(), Reasons: g.Reasons,
		Seed: r.Seed, Command: r.Command, Began: time.Now(), Lasts: r.For, Candidates: r.Candidates, TTL: r.TTL,
		Machine: r.machine(), Versions: versions(ctx), Load: r.load(), Least: r.least(),
	}
	if r.Unsafe != "" {
		a.Unprotected = []string{r.Unsafe}
	}
	// Each kind comes once before any comes again, so that so much time is enough for all.
	if cycles := int(r.For / nemesis.Cycle(r.TTL)); cycles >= 2*len(kinds) {
		a.Faults = kinds
	}
	return a
}

// least is far less than what happens on a machine that is not busy.
func (r *run) least() history.Least {
	cycles := int(r.For / nemesis.Cycle(r.TTL))
	return history.Least{
		Terms: max(1, cycles/4), Writes: max(1, int(r.For/time.Second)), Faults: max(1, cycles/3), Heals: max(1, cycles/4),
	}
}

// load is what candidates may send at the library's defaults: a leader renews three times a TTL, who stands by polls
// five times where the store does not push, both up to a tenth sooner; and half as much again, since a busy machine has
// calls fail and be repeated.
func (r *run) load() history.Load {
	ttls := float64(time.Minute) / float64(r.TTL)
	l := history.Load{Leader: 5 * ttls, Follower: 8.5 * ttls, Fault: 60 * ttls, Change: 12}
	if _, pushes := r.store.Store.(tenure.Watcher); pushes {
		l.Follower = 3 * ttls
	}
	return l
}

func (r *run) machine() map[string]string {
	var u bytes.Buffer
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		u.Write(bytes.TrimSpace(text))
	}
	return map[string]string{
		"system": runtime.GOOS + "/" + runtime.GOARCH, "kernel": u.String(), "processors": fmt.Sprint(runtime.NumCPU()),
		"network": r.networks(),
	}
}

// networks says what lies between the candidates and the store.
func (r *run) networks() string {
	switch {
	case len(r.server.Addrs) == 0:
		return "none"
	case r.shared != nil:
		return "one for all candidates"
	}
	return "a namespace for each candidate"
}

func versions(ctx context.Context) map[string]string {
	v := map[string]string{"go": runtime.Version()}
	if out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output(); err == nil {
		v["tenure"] = strings.TrimSpace(string(out))
	}
	return v
}

// BuildTenure builds the program tenure with what some stores need into a directory, and returns its path.
func BuildTenure(ctx context.Context, dir string, stores ...beds.Bed) (string, error) {
	path, err := filepath.Abs(filepath.Join(dir, "tenure"))
	if err != nil {
		return "", err
	}
	var tags []string
	for _, bed := range stores {
		tags = append(tags, bed.Tags)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", strings.Join(tags, ","), "-o", path,
		"github.com/tenure-go/tenure/cmd/tenure")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build tenure, which needs to be done within the repository: %w\n%s", err, out)
	}
	return path, nil
}
