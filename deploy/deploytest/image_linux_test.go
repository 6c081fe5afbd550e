package deploytest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"golang.org/x/sys/unix"
)

// A container here is what runtimes make of an image: namespaces of its own, the files of the image and no others,
// read-only, but for /proc and a volume /data; the user of the image, and no way to become another.

func init() { roles["contain"] = contain }

// Names of the variables that tell contain what to do.
const (
	containerRoot = "CONTAINER_ROOT" // the directory with the files of the image
	containerData = "CONTAINER_DATA" // what is mounted as /data
	containerUser = "CONTAINER_USER" // by number
)

// contain is the first process of the namespaces, until it becomes the program of the image.
func contain() {
	runtime.LockOSThread() // it is the thread that must not get privileges again
	err := confine(os.Getenv(containerRoot), os.Getenv(containerData), os.Getenv(containerUser))
	if err == nil {
		env := []string{"TENURE_STORE=file:///data/elections", "TMPDIR=/data"}
		err = unix.Exec(os.Args[1], os.Args[1:], env)
	}
	fmt.Fprintln(os.Stderr, "this host cannot run a container:", err)
	os.Exit(cannotBoot)
}

func confine(root, data, user string) error {
	id, err := strconv.Atoi(user)
	if err != nil {
		return err
	}
	steps := []func() error{
		func() error { return unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, "") },
		func() error { return unix.Mount(root, root, "", unix.MS_BIND, "") },
		func() error { return unix.Mount("proc", root+"/proc", "proc", 0, "") },
		func() error { return unix.Mount(data, root+"/data", "", unix.MS_BIND, "") },
		func() error { return unix.Mount("", root, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "") },
		loopbackUp,
		func() error { return unix.PivotRoot(root, root+"/data/old") },
		func() error { return os.Chdir("/") },
		func() error { return unix.Unmount("/data/old", unix.MNT_DETACH) },
		func() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) },
		func() error { return syscall.Setgroups(nil) },
		func() error { return syscall.Setgid(id) },
		func() error { return syscall.Setuid(id) },
		func() error { return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0) }, // which the others cleared
	}
	for i, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

// image is the files of the image, and its user.
type image struct{ root, user string }

func newImage(t *testing.T) image {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("without a runtime, root alone can run a container")
	}
	_, final, _ := readDockerfile(t)
	root := t.TempDir()
	for _, c := range commands[*instructions.CopyCommand](final) {
		source := c.SourcePaths[0]
		if strings.HasPrefix(source, "/out/") {
			source = command(t)
		}
		text, err := os.ReadFile(source)
		if err != nil && source != command(t) {
			t.Logf("this host has no %s to put into the image", source) // only servers with TLS need it
			continue
		}
		write(t, root+c.DestPath, string(text), 0o755)
	}
	for _, dir := range []string{"proc", "data"} { // of the runtime
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := openPath(root); err != nil {
		t.Fatal(err)
	}
	user, _, _ := strings.Cut(commands[*instructions.UserCommand](final)[0].User, ":")
	return image{root, user}
}

// openPath lets every user through to a directory of a test.
func openPath(dir string) error {
	var errs []error
	for ; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		errs = append(errs, os.Chmod(dir, 0o755))
	}
	return errors.Join(errs...)
}

// volume makes a directory for /data, which belongs to the user of the image.
func (i image) volume(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	id, err := strconv.Atoi(i.user)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(openPath(dir), os.Mkdir(dir+"/old", 0o755), os.Chown(dir, id, id)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// start starts a program of the image.
func (i image) start(t *testing.T, data string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...) //nolint:noctx // it is to be ended by its signal
	cmd.Env = append(os.Environ(), roleVariable+"=contain", containerRoot+"="+i.root, containerData+"="+data,
		containerUser+"="+i.user)
	cmd.SysProcAttr = isolated()
	return launch(t, cmd)
}

// run runs a program of the image to its end.
func (i image) run(t *testing.T, data string, args ...string) (out string, code int) {
	t.Helper()
	p := i.start(t, data, args...)
	<-p.ended
	code = p.cmd.ProcessState.ExitCode()
	if code == cannotBoot {
		t.Skip(p.out.String())
	}
	return p.out.String(), code
}

// TestImageRuns: with nothing but what is in the image, every way to use the command works, as its user.
func TestImageRuns(t *testing.T) {
	t.Parallel()
	i := newImage(t)
	_, final, _ := readDockerfile(t)
	if out, code := i.run(t, i.volume(t), append([]string{"/tenure"}, commands[*instructions.CmdCommand](final)[0].CmdLine...)...); code != 0 ||
		!strings.Contains(out, "Usage:") {
		t.Errorf("by itself it ends with %d and says %s", code, out)
	}
	// It is its own guard, and the command that it runs.
	out, code := i.run(t, i.volume(t), "/tenure", "run", "--election", "x", "--", "/tenure", "version")
	if code != 0 || !strings.Contains(out, "linux/"+runtime.GOARCH) {
		t.Errorf("run ends with %d and says %s", code, out)
	}
	out, code = i.run(t, i.volume(t), "/tenure", "demo", "--for", "3s")
	if code != 0 {
		t.Errorf("demo ends with %d and says %s", code, out)
	}
	data := i.volume(t)
	p := i.start(t, data, "/tenure", "serve", "--election", "x", "--id", "host-a")
	eventually(t, "the sidecar leads", func() bool { return strings.Contains(p.out.String(), "msg=elected") })
	status := read(t, fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if !strings.Contains(status, "Uid:\t"+i.user+"\t") || !strings.Contains(status, "CapEff:\t0000000000000000") {
		t.Errorf("it runs as\n%s", status)
	}
	health := commands[*instructions.HealthCheckCommand](final)[0].Health.Test
	if out, code := i.run(t, data, health[1:]...); health[0] != "CMD" || code != 0 {
		t.Errorf("%q ends with %d and says %s", health, code, out)
	}
	if code := p.terminate(); code != 0 {
		t.Errorf("serve ends with %d", code)
	}
	unreachable := i.volume(t)
	write(t, filepath.Join(unreachable, "elections"), "no directory", 0o644)
	if _, code := i.run(t, unreachable, health[1:]...); code == 0 {
		t.Error("it is healthy without a store")
	}
}
