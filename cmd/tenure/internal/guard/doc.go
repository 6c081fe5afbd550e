// Package guard runs a command that must not outlive the leadership of the process that wants it run.
//
//	supervisor --starts--> guard --starts--> command, in a process group of its own
//
// The supervisor is the candidate. [Start] starts the guard, the same binary once more ([Main]), which starts the
// command and is parent and reaper of everything that comes of it. The supervisor sends the guard two deadlines, and
// sends them anew after each renewal of its lease ([Guard.Extend]). The guard enforces them by itself:
//
//	SignalAt                     KillAt                          end of the lease
//	   |  signal to the group      |  SIGKILL to all that is left   |  others may lead from here on
//	   |<------- to stop --------->|<------- margin to die -------->|
//
// A deadline is a reading of the machine's boot clock ([Instant]), which both processes share and which counts
// suspension. So a deadline that waited in the pipe, or in a process that was frozen, is as good as a fresh one. And a
// deadline that has passed is final: no later message lets the group live on.
//
// # What is guaranteed on Linux
//
//   - The supervisor is killed: the guard kills the group at once, since nobody holds the lead.
//   - The supervisor is frozen: the guard ends the group in time.
//   - The guard is killed: the kernel kills the command, the supervisor everything that the command started.
//   - The guard is frozen: the supervisor enforces the same deadlines, a little later.
//   - The command exits and leaves processes behind: they get the signal, and SIGKILL when the time that the deadlines
//     give for stopping has passed again. Nothing is orphaned.
//   - Processes that left the group or the session are found as well: the guard adopts all orphans below it
//     (PR_SET_CHILD_SUBREAPER) and does not end before it has no living child.
//   - The guard holds [Options.Lock] until all of them are dead, and the supervisor by its own descriptor if the guard
//     is lost. So a lock that is free proves their death, but for the first of the cases below.
//
// The command inherits neither the pipes nor the lock. Were the lock inherited, it would bear witness of whatever
// programs happen to keep unknown descriptors open, which is another thing than being alive; any of them could free it
// for all by an unlock; and a stray daemon could hold a seat that nobody leads from.
//
// # With a cgroup
//
// If the guard may make a cgroup (version 2, with cgroup.kill) below its own, the command runs in it. Then killing
// everything is one atomic write, whatever user IDs the processes took on; and processes whose supervisor and guard
// were both killed are killed by the next guard that starts below the same cgroup, before it starts its own command.
// Without the rights for a cgroup everything else stands.
//
// # What is not guaranteed
//
//   - Supervisor and guard killed at the same instant: the kernel kills the command, but what the command started
//     lives on, without a cgroup for ever, with one until the next guard starts there.
//   - Supervisor and guard both frozen: the group runs on until one of them is thawed.
//   - Processes started through another daemon (cron, systemd-run, docker) are none of the command's descendants.
//   - Without a cgroup, processes under another user's ID that the guard may not signal, and processes that leave the
//     group and fork faster than they are found. It tries on, and waits for them.
//   - A write that the kernel has already begun for a killed process may still finish.
//
// There only the fencing token helps, checked at the resource.
//
// The guard is in a session of its own, so neither Ctrl-C nor a hang-up of the terminal reaches it or the command: the
// supervisor decides what they mean ([Guard.Signal]). The command reads and writes the terminal as if in the
// foreground, but it is not the command's controlling terminal: there is no job control in it, and /dev/tty cannot be
// opened.
//
// # Other systems
//
// On other Unix systems the guard reaches only the process group: descendants that left it are not found, and the
// death of the guard is answered by the supervisor alone. On Windows there is no guard process: the supervisor keeps
// the command in a job object that the kernel ends together with it, so a supervisor that is killed takes everything
// along, but one that is frozen does not end its command. The signal there is CTRL_BREAK to the command's console
// group.
package guard
