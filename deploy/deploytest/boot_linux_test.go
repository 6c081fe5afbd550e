package deploytest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tenure-go/tenure/internal/testserver"
)

// A machine is a real systemd as the first process of namespaces of its own. It sees the files of this host through an
// overlay that forgets, no process and no network but its own, and no unit but those that it is given.

func init() { roles["boot"] = boot }

// Names of the variables that tell boot where things are.
const (
	machineBase   = "MACHINE_BASE"   // an empty directory
	machineFiles  = "MACHINE_FILES"  // what to add to the files of the host
	machineCgroup = "MACHINE_CGROUP" // the directory of an empty cgroup of version 2
)

// cannotBoot is the exit code for what this host does not permit.
const cannotBoot = 77

const systemd = "/usr/lib/systemd/systemd"

// machineUnits is where the machine has its units.
const machineUnits = "/run/machine"

// boot is the first process of the namespaces, until it becomes systemd.
func boot() {
	runtime.LockOSThread() // a cgroup namespace is the thread's
	err := enter(os.Getenv(machineBase), os.Getenv(machineFiles), os.Getenv(machineCgroup))
	if err == nil {
		err = unix.Exec(systemd, []string{
			systemd, "--system", "--unit=machine.target", "--log-target=console", "--log-level=info", "--show-status=0",
		}, []string{"container=test", "SYSTEMD_UNIT_PATH=" + machineUnits, "PATH=/usr/sbin:/usr/bin:/sbin:/bin"})
	}
	fmt.Fprintln(os.Stderr, "this host cannot boot a machine in a container:", err)
	os.Exit(cannotBoot)
}

// enter makes the machine's view of the world that of this process.
func enter(base, files, cgroup string) error {
	root := filepath.Join(base, "root")
	steps := []func() error{
		func() error { return os.WriteFile(filepath.Join(cgroup, "cgroup.procs"), []byte("0"), 0) },
		func() error { return unix.Unshare(unix.CLONE_NEWCGROUP) },
		func() error { return unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, "") },
		func() error { return unix.Mount("tmpfs", base, "tmpfs", 0, "") },
		func() error {
			return errors.Join(os.Mkdir(root, 0o755), os.Mkdir(base+"/upper", 0o755), os.Mkdir(base+"/work", 0o755))
		},
		func() error {
			return unix.Mount("overlay", root, "overlay", 0, "lowerdir=/,upperdir="+base+"/upper,workdir="+base+"/work")
		},
		func() error { return unix.Mount("proc", root+"/proc", "proc", 0, "") },
		func() error { return unix.Mount("sysfs", root+"/sys", "sysfs", 0, "") },
		func() error { return unix.Mount("cgroup2", root+"/sys/fs/cgroup", "cgroup2", 0, "") },
		func() error { return unix.Mount("tmpfs", root+"/run", "tmpfs", 0, "mode=755") },
		func() error { return unix.Mount("tmpfs", root+"/tmp", "tmpfs", 0, "mode=1777") },
		func() error { return unix.Mount("tmpfs", root+"/var", "tmpfs", 0, "mode=755") },
		func() error { return os.Mkdir(root+"/var/tmp", 0o1777) },
		func() error { return devices(root + "/dev") },
		loopbackUp,
		func() error { return os.CopyFS(root, os.DirFS(files)) },
		func() error { return os.Mkdir(root+"/.old", 0o700) },
		func() error { return unix.PivotRoot(root, root+"/.old") },
		func() error { return os.Chdir("/") },
		func() error { return unix.Unmount("/.old", unix.MNT_DETACH) },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

// devices are those that cannot be harmed.
func devices(dir string) error {
	errs := []error{unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=755")}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		path := filepath.Join(dir, name)
		errs = append(errs, os.WriteFile(path, nil, 0o666), unix.Mount("/dev/"+name, path, "", unix.MS_BIND, ""))
	}
	return errors.Join(append(errs, os.Mkdir(dir+"/shm", 0o1777), os.Mkdir(dir+"/pts", 0o755),
		unix.Mount("devpts", dir+"/pts", "devpts", 0, "newinstance,ptmxmode=0666,mode=620"),
		os.Symlink("pts/ptmx", dir+"/ptmx"))...)
}

func loopbackUp() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, lo)
}

type machine struct {
	*process
	root string // its files, as this host sees them
}

// stubs are the units of the system that ours refer to.
var stubs = []string{"machine", "sysinit", "basic", "shutdown", "network-online", "multi-user", "timers"}

// bootMachine boots a machine with the units of deploy, the command, and further files by their absolute paths; those
// with a mode of 0755 if they begin with #!.
func bootMachine(t *testing.T, files map[string]string) *machine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a systemd of its own can be booted by root alone")
	}
	testserver.Find(t, "systemd-analyze") // and with it systemd
	testserver.Find(t, "curl")
	for _, program := range []string{systemd, "/usr/bin/nsenter"} {
		if _, err := os.Stat(program); err != nil {
			t.Skipf("there is no %s", program)
		}
	}
	tree := t.TempDir()
	put := func(name, text string) {
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(text, "#!") || strings.HasPrefix(text, "\x7fELF") {
			mode = 0o755
		}
		write(t, tree+name, text, mode)
	}
	put("/usr/local/bin/tenure", read(t, command(t)))
	deployedUnits, err := filepath.Glob(units + "/*@*.[st]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(deployedUnits, units+"/tenure-serve.service") {
		put(filepath.Join(machineUnits, filepath.Base(path)), read(t, path))
	}
	for _, name := range stubs {
		put(filepath.Join(machineUnits, name+".target"), "[Unit]\nDescription=stub\nDefaultDependencies=no\n")
	}
	put(machineUnits+"/service.d/log.conf", "[Service]\nStandardOutput=append:/run/log\nStandardError=append:/run/log\n")
	put("/etc/tenure/tenure.env", read(t, units+"/tenure.env"))
	quick := strings.NewReplacer(`"ttl": "10s", "drain": "2s"`, `"ttl": "2s", "drain": "400ms"`)
	put("/etc/tenure/serve.json", quick.Replace(read(t, units+"/serve.json")))
	for name, text := range files {
		put(name, text)
	}
	return startMachine(t, tree)
}

func startMachine(t *testing.T, tree string) *machine {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self) //nolint:noctx // it is killed at the end of the test
	cmd.Env = append(os.Environ(), roleVariable+"=boot", machineBase+"="+t.TempDir(), machineFiles+"="+tree,
		machineCgroup+"="+newCgroup(t))
	cmd.SysProcAttr = isolated()
	m := &machine{process: launch(t, cmd)}
	m.root = fmt.Sprintf("/proc/%d/root", cmd.Process.Pid)
	eventually(t, "systemd runs", func() bool {
		select {
		case <-m.ended:
			if m.cmd.ProcessState.ExitCode() == cannotBoot {
				t.Skip(m.out.String())
			}
			t.Fatal("systemd ended")
		default:
		}
		out, _ := m.try("systemctl", "is-active", "machine.target")
		return out == "active"
	})
	t.Cleanup(func() {
		if t.Failed() {
			status, _ := m.try("systemctl", "status", "--no-pager", "--full", "tenure-*")
			t.Logf("systemd says:\n%s\nthe services said:\n%s", status, m.file("/run/log"))
		}
	})
	return m
}

// newCgroup makes an empty cgroup of version 2.
func newCgroup(t *testing.T) string {
	t.Helper()
	for line := range strings.Lines(read(t, "/proc/self/mountinfo")) {
		fields := strings.Fields(line)
		if !strings.Contains(line, " - cgroup2 ") || len(fields) < 5 {
			continue
		}
		dir, err := os.MkdirTemp(fields[4], "tenure-deploytest-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { removeCgroups(t, dir) })
		if err := os.Chmod(dir, 0o755); err != nil { // services of users have to find their own below it
			t.Fatal(err)
		}
		return dir
	}
	t.Skip("there is no hierarchy of cgroups of version 2 to make one in")
	return ""
}

// removeCgroups removes the cgroups of dead processes, the innermost first.
func removeCgroups(t *testing.T, dir string) {
	t.Helper()
	eventually(t, "the cgroups of the machine are empty", func() bool {
		var dirs []string
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
		for i := len(dirs) - 1; i >= 0; i-- {
			_ = os.Remove(dirs[i])
		}
		_, err := os.Stat(dir)
		return errors.Is(err, fs.ErrNotExist)
	})
}

// try runs a program in the machine, and returns what it printed without white space around it.
func (m *machine) try(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.t.Context()), patience)
	defer cancel()
	enter := []string{"-t", strconv.Itoa(m.cmd.Process.Pid), "-m", "-p", "-u", "-i", "-n", "-C", "--"}
	cmd := exec.CommandContext(ctx, "/usr/bin/nsenter", append(enter, args...)...)
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SYSTEMD_LOG_LEVEL=err"}
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (m *machine) run(args ...string) string {
	m.t.Helper()
	out, err := m.try(args...)
	if err != nil {
		m.t.Fatalf("%q: %v: %s", args, err, out)
	}
	return out
}

// property returns what systemd says of a unit.
func (m *machine) property(unit, name string) string {
	m.t.Helper()
	return m.run("systemctl", "show", "--value", "-p", name, unit)
}

// file returns the text of a file in the machine, nothing if it is not there.
func (m *machine) file(name string) string {
	text, _ := os.ReadFile(m.root + name)
	return string(text)
}

// leads reports whether the sidecar of the machine leads its own election.
func (m *machine) leads() bool {
	out, err := m.try("curl", "-sf", "http://127.0.0.1:8732/v1/elections/timers")
	return err == nil && strings.Contains(out, `"leading":true`)
}

// elections is the file store of the machine, which is systemd's private state directory.
const elections = "file:///var/lib/private/tenure/elections"

// state returns how an election stands.
func (m *machine) state(election string) string {
	m.t.Helper()
	out, _ := m.try("tenure", "--store", elections, "status", "--json", election)
	for _, state := range []string{"held", "vacant", "paused", "missing", "abandoned"} {
		if strings.Contains(out, `"state": "`+state+`"`) || strings.Contains(out, `"state":"`+state+`"`) {
			return state
		}
	}
	return out
}
