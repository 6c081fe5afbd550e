package deploytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/output"
)

// deployed is the directory of what is tested.
const deployed = ".."

// patience is how long a test waits for what has to happen some time, on however slow a machine.
const patience = 90 * time.Second

// built is the command, built once for all tests.
var built struct {
	once sync.Once
	path string
	err  error
}

// roles are what the test binary can be when it is started again.
var roles = map[string]func(){}

const roleVariable = "TEST_ROLE"

func TestMain(m *testing.M) {
	if role := roles[os.Getenv(roleVariable)]; role != nil {
		role()
	}
	for _, variable := range os.Environ() { // what would change the command's ways
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "TENURE_") && !ofTests(name) {
			_ = os.Unsetenv(name)
		}
	}
	code := m.Run()
	if built.path != "" {
		_ = os.RemoveAll(filepath.Dir(built.path))
	}
	os.Exit(code)
}

func ofTests(name string) bool {
	return strings.HasPrefix(name, "TENURE_SERVER") || name == "TENURE_NEED_SERVERS" || name == "TENURE_CACHE"
}

// command returns the path of the command, built as the Dockerfile says.
func command(t *testing.T) string {
	t.Helper()
	built.once.Do(func() { built.path, built.err = build(t) })
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// tenure runs the command to its end. Its exit code is -1 if it could not be run.
func tenure(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	path := command(t) // which takes what a build takes, and not of the time of what is run
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return "", err.Error(), -1
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// process is a command that runs beside the test, and is killed at its end.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	out   *output.Buffer
	ended chan struct{}
}

func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...) //nolint:noctx // it is to be ended by its signal
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = mortal()
	return launch(t, cmd)
}

// launch starts a process that ends with the test, whatever ends that.
func launch(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, out: new(output.Buffer), ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = p.out, p.out, patience
	started := make(chan error)
	go func() {
		defer close(p.ended)
		runtime.LockOSThread() // its end would count as that of the parent
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	if err := <-started; errors.Is(err, syscall.EPERM) {
		t.Skipf("this host does not permit namespaces of one's own: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("%q said:\n%s", cmd.Args, p.out)
		}
	})
	return p
}

// terminate asks the process to end, and returns its exit code.
func (p *process) terminate() int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatalf("%q has not ended within %v", p.cmd.Args, patience)
	}
	return p.cmd.ProcessState.ExitCode()
}

// eventually polls: what it waits for happens in other processes.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !happened(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// standing is what the tests need of what status prints.
type standing struct {
	State  string `json:"state"`
	Leader string `json:"leader"`
	Token  uint64 `json:"token"`
}

// look returns how an election stands, as status prints it.
func look(t *testing.T, store, election string) standing {
	t.Helper()
	text, errs, _ := tenure(t, nil, "--store", store, "status", "--json", election)
	var all []standing
	if err := json.Unmarshal([]byte(text), &all); err != nil || len(all) != 1 {
		t.Fatalf("status says %q and %q: %v", text, errs, err)
	}
	return all[0]
}

// ask returns the body of an answer with status 200, or an error.
func ask(t *testing.T, url string) (string, error) {
	t.Helper()
	return askAs(t, url, "")
}

// askAs is ask with a token.
func askAs(t *testing.T, url, token string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, body)
	}
	return string(body), err
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
