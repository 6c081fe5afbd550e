package contenders

import (
	"bufio"
	"context"
	_ "embed" // for the script
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/tenure-go/tenure/bench/peers"
)

// nestVersion is of what bench/peers/get fetches.
const nestVersion = "1.1.2"

//go:embed nest/elector.mjs
var nestScript []byte

// Nest is an election of Node.js over a table of PostgreSQL.
func Nest() peers.Peer {
	return peers.Peer{
		Name: "nest-leader-election", Module: "npm nest-leader-election@" + nestVersion, Arena: postgresArena(),
		About: "`LeaderElectorCore.create` and `release`, a process of Node.js for each candidate; its statement sets 15 s " +
			"whatever is configured",
		Lease: 15 * time.Second, Fixed: true, Most: 10, Poll: 2. / 3, Needs: needsNest, Open: openNest,
	}
}

func nestModules() (string, error) {
	return cached("nest-leader-election@"+nestVersion, "node_modules")
}

func needsNest() error {
	if _, err := exec.LookPath("node"); err != nil {
		return fmt.Errorf("nest-leader-election needs Node.js: %w", err)
	}
	_, err := nestModules()
	return err
}

func openNest(_ context.Context, address string) (peers.Node, error) {
	modules, err := nestModules()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "tenure-")
	if err != nil {
		return nil, err
	}
	n := &nestNode{dir: dir, modules: modules, address: address}
	return n, os.WriteFile(n.script(), nestScript, 0o600)
}

type nestNode struct{ dir, modules, address string }

func (n *nestNode) script() string { return filepath.Join(n.dir, "elector.mjs") }

// Contend returns a candidate whose election is a number, as the library has it.
func (n *nestNode) Contend(election, _ string, _ time.Duration) (peers.Contender, error) {
	lock := crc32.ChecksumIEEE([]byte(election)) & 0x7fffffff
	return &nestContender{node: n, lock: strconv.Itoa(int(lock))}, nil
}

func (n *nestNode) Close() error { return os.RemoveAll(n.dir) }

// nestContender is a process each time: one that has released never stands again.
type nestContender struct {
	node  *nestNode
	lock  string
	cmd   *exec.Cmd
	input io.WriteCloser
	lines chan string
	read  sync.WaitGroup
}

func (c *nestContender) Lead(ctx context.Context) error {
	if err := c.Close(); err != nil {
		return err
	}
	cmd := exec.Command("node", c.node.script(), c.node.modules, c.node.address, c.lock)
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	output, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.cmd, c.input, c.lines = cmd, input, make(chan string, 1)
	c.read.Go(func() {
		defer close(c.lines)
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			c.lines <- scanner.Text()
		}
	})
	return c.await(ctx, "leads")
}

func (c *nestContender) await(ctx context.Context, want string) error {
	for last := "nothing"; ; {
		select {
		case line, open := <-c.lines:
			if !open {
				return fmt.Errorf("the process ended; it printed %s", last)
			}
			if line == want {
				return nil
			}
			last = line
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *nestContender) Release(ctx context.Context) error {
	if _, err := io.WriteString(c.input, "release\n"); err != nil {
		return err
	}
	return c.await(ctx, "released")
}

// Close kills the process: a lease that it holds runs out.
func (c *nestContender) Close() error {
	if c.cmd == nil {
		return nil
	}
	_ = c.cmd.Process.Kill()
	go func() {
		for range c.lines {
			continue // until it has ended
		}
	}()
	c.read.Wait()
	err := c.cmd.Wait()
	c.cmd = nil
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return nil
	}
	return errors.Join(err, c.input.Close())
}

// cached returns the path of what bench/peers/get has put into the cache.
func cached(parts ...string) (string, error) {
	cache := os.Getenv("TENURE_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(dir, "tenure")
	}
	path := filepath.Join(append([]string{cache, "peers"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is not in the cache; get it with: bash bench/peers/get", filepath.Join(parts...))
	}
	return path, nil
}
