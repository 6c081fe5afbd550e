package deploytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSystemdRunsTheSidecar: it starts as a notifying service, confined, is found by its watchdog when it hangs, lets
// jobs of timers run where it leads, and gives its seats back when it is stopped.
func TestSystemdRunsTheSidecar(t *testing.T) {
	t.Parallel()
	const unit = "tenure-serve.service"
	if readUnit(t, unit).seconds(t, "WatchdogSec") <= 0 {
		t.Error("nobody watches over it")
	}
	m := bootMachine(t, map[string]string{
		"/etc/tenure/timer/report": "#!/bin/sh\necho ran >>/run/ran\n",
		// Sooner than in the units, so that the test waits for neither half a minute nor the night.
		machineUnits + "/" + unit + ".d/test.conf":              "[Service]\nWatchdogSec=2\n",
		machineUnits + "/tenure-timer@report.timer.d/test.conf": "[Timer]\nOnCalendar=\nOnCalendar=*:*:*\n",
	})
	m.run("systemctl", "start", unit)
	if got := m.property(unit, "ActiveState"); got != "active" {
		t.Fatalf("it is %s", got)
	}
	checkConfined(t, m, m.property(unit, "MainPID"))
	eventually(t, "the sidecar leads", m.leads)

	m.run("systemctl", "start", "tenure-timer@report.timer")
	eventually(t, "the timer starts the job of the leader", func() bool { return m.file("/run/ran") != "" })
	m.run("systemctl", "stop", "tenure-timer@report.timer")
	m.run("systemctl", "start", "tenure-timer@report.service") // again, after the one that may still run
	ran := m.file("/run/ran")
	post := []string{"curl", "-sf", "-X", "POST", "-H", "Content-Type: application/json", "-d", "{}"}
	m.run(append(post, "http://127.0.0.1:8732/v1/elections/timers/pause")...)
	eventually(t, "nobody leads", func() bool { return !m.leads() })
	m.run("systemctl", "start", "tenure-timer@report.service")
	state := m.property("tenure-timer@report.service", "ActiveState")
	if got := m.file("/run/ran"); got != ran || state != "inactive" {
		t.Errorf("without a leader the job left %q after %q, and is %s", got, ran, state)
	}
	m.run(append(post, "http://127.0.0.1:8732/v1/elections/timers/resume")...)
	eventually(t, "the sidecar leads again", m.leads)

	before := m.property(unit, "NRestarts") // by a machine so busy that it seemed to hang
	m.run("kill", "-STOP", m.property(unit, "MainPID"))
	eventually(t, "the watchdog has it started again", func() bool { return m.property(unit, "NRestarts") != before })
	eventually(t, "it leads after its restart", m.leads)

	m.run("systemctl", "stop", unit)
	if result, state := m.property(unit, "Result"), m.state("timers"); result != "success" || state != "vacant" {
		t.Errorf("it ended with %s and left the seat %s", result, state)
	}
}

// checkConfined checks that a process is no root's and has no way to become that.
func checkConfined(t *testing.T, m *machine, pid string) {
	t.Helper()
	status := m.run("cat", "/proc/"+pid+"/status")
	for _, want := range []string{"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"} {
		if !strings.Contains(status, want) {
			t.Errorf("it has not %q:\n%s", want, status)
		}
	}
	if strings.Contains(status, "Uid:\t0") {
		t.Errorf("it is root:\n%s", status)
	}
}

// relay is a command that is asked to stop by another signal than systemd's, and takes a moment in which it would hear
// of that one, too.
const relay = `#!/bin/sh
echo "begun $TENURE_TOKEN $*"
sed -n s/^0:://p /proc/self/cgroup >"$STATE_DIRECTORY/cgroup"
touch /etc/written "$STATE_DIRECTORY/written" 2>/dev/null
trap 'echo stopped >>"$STATE_DIRECTORY/stopped"' USR1
trap 'echo killed >>"$STATE_DIRECTORY/stopped"' TERM
sleep 1000 &
wait
sleep 0.3
`

// TestSystemdRunsACommand: confined, in a control group of its own that systemd has delegated, and told to stop.
func TestSystemdRunsACommand(t *testing.T) {
	t.Parallel()
	m := bootMachine(t, map[string]string{
		"/usr/local/bin/relay":        relay,
		"/etc/tenure/run/relay.env":   strings.Replace(read(t, units+"/relay.env"), "FLAGS=", "FLAGS=--signal USR1 ", 1),
		"/etc/tenure/run/wrong.env":   "COMMAND=/usr/local/bin/relay\nFLAGS=--no-such-flag\n",
		"/etc/tenure/run/absent.env":  "COMMAND=/usr/local/bin/no-such-command\n",
		"/etc/tenure/run/standby.env": "COMMAND=/usr/local/bin/relay\nFLAGS=--verbose --signal USR1 --election relay\n",
	})
	state := "/var/lib/private/tenure/"
	const unit = "tenure-run@relay.service"
	m.run("systemctl", "start", unit)
	eventually(t, "the command runs", func() bool { return strings.Contains(m.file("/run/log"), "begun 1 --verbose") })
	eventually(t, "the command tells its control group", func() bool { return m.file(state+"cgroup") != "" })
	cgroup := strings.TrimSpace(m.file(state + "cgroup"))
	if group := filepath.Base(cgroup); !strings.HasPrefix(group, "tenure-guard-") || !strings.Contains(cgroup, unit) {
		t.Errorf("its control group is %s", cgroup)
	}
	checkConfined(t, m, m.property(unit, "MainPID"))
	eventually(t, "the command writes where it may", func() bool {
		_, err := os.Stat(m.root + state + "written")
		return err == nil
	})
	if _, err := os.Stat(m.root + "/etc/written"); err == nil {
		t.Error("the command could write to /etc")
	}
	const standby = "tenure-run@standby.service" // whose flag comes after the unit's, and wins
	m.run("systemctl", "start", standby)
	eventually(t, "another one stands by", func() bool { return strings.Contains(m.file("/run/log"), "level=DEBUG") })
	m.run("systemctl", "stop", standby)
	if got := m.property(standby, "Result"); got != "success" { // of a unit that failed; others are forgotten
		t.Errorf("the one that stood by ended with %s", got)
	}
	m.run("systemctl", "start", standby)
	m.run("systemctl", "stop", unit)
	if result, told := m.property(unit, "Result"), m.file(state+"stopped"); result != "success" || told != "stopped\n" {
		t.Errorf("it ended with %s, and the command was told %q", result, told)
	}
	eventually(t, "the one that stood by follows", func() bool { return strings.Contains(m.file("/run/log"), "begun 2") })
	m.run("systemctl", "stop", standby)
	if got := m.state("relay"); got != "vacant" {
		t.Errorf("the seat is left %s", got)
	}
	for name, code := range map[string]string{"wrong": "125", "absent": "127"} {
		unit := "tenure-run@" + name + ".service"
		m.run("systemctl", "start", unit)
		eventually(t, unit+" has failed for good", func() bool { return m.property(unit, "ActiveState") == "failed" })
		if got := m.property(unit, "ExecMainStatus"); got != code || m.property(unit, "NRestarts") != "0" {
			t.Errorf("%s ended with %s", unit, got)
		}
	}
}
