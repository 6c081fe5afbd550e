//go:build linux

package beds

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// PostgresStandby is a primary whose commits wait for the disk of its standby, which is promoted in its place.
func PostgresStandby() Bed {
	return Bed{
		Name: "postgres-standby", About: "lease table; a primary and a synchronous standby, promoted in turn",
		Start: startPostgresPair(true),
	}
}

// PostgresReplica is a primary with a standby that its commits do not wait for.
func PostgresReplica() Bed {
	return Bed{
		Name: "postgres-replica", About: "lease table; a primary and an asynchronous standby, promoted in turn",
		Start: startPostgresPair(false),
	}
}

// postgresPair is a primary and a standby that streams from it, which are changed over again and again by the one who
// has to know which is which: here we are what Patroni, repmgr or the operator of a cluster is elsewhere.
type postgresPair struct {
	tb          testserver.TB
	synchronous bool
	primary     *testserver.Postgres
	standby     *testserver.Postgres
	// stream is what the standby reaches the primary through.
	stream  *tcpproxy.Proxy
	changes int
}

const (
	// standbyName is what a standby calls itself, whichever of the two it is.
	standbyName = "standby"
	// cutOff is for how long the primary goes on without its standby before it dies. A leader renews several times in it:
	// what is acknowledged is lost, and what only seems to be made must not be believed. Partitions of a run last about as
	// long, and whoever comes out of one then finds an old record.
	cutOff = 5 * time.Second
)

// pairSettings are those of both. A standby that has lost its primary looks for it often, and the primary keeps what it
// may have missed.
var pairSettings = []string{"wal_retrieve_retry_interval=500ms", "wal_keep_size=256MB"}

// pairURL is as operators are told to write it: each new connection goes to the server that takes writes, and one that
// does not answer is left for the next.
const pairURL = "/postgres?sslmode=disable&target_session_attrs=read-write&connect_timeout=2"

func startPostgresPair(synchronous bool) func(testserver.TB) (*Server, error) {
	return func(tb testserver.TB) (*Server, error) {
		p := &postgresPair{tb: tb, synchronous: synchronous, primary: testserver.StartPostgres(tb, pairSettings...)}
		if err := preparePostgres(p.primary.URL()); err != nil {
			return nil, err
		}
		p.stream = tcpproxy.Start(tb, p.primary.Addr)
		p.standby = testserver.StartStandby(tb, p.stream.Addr(), standbyName, pairSettings...)
		return &Server{
			Version: "PostgreSQL", Addrs: []string{p.primary.Addr, p.standby.Addr}, Pool: true,
			URL: func(addrs []string) string {
				return "postgres://" + candidateRole + "@" + strings.Join(addrs, ",") + pairURL
			},
			Nodes:        []Node{{"postgres-a", p.primary.Process}, {"postgres-b", p.standby.Process}},
			Revoke:       postgresRevoke(func() *testserver.Postgres { return p.primary }),
			ChangeLeader: p.failOver, ChangeLoses: !synchronous,
		}, p.settle()
	}
}

// deaths are how the primary ends, in turn. Each ends it, and returns how far its log went.
var deaths = []struct {
	how string
	end func(*postgresPair) (string, error)
}{
	{"killed while it was cut off from its standby", (*postgresPair).cutOff},
	{"killed", (*postgresPair).kill},
	{"stopped", (*postgresPair).stop},
}

// failOver ends the primary, promotes the standby, and makes a standby of the one that has ended: that takes no write
// from its end on, since it is started again only as a standby.
//
// A synchronous primary without a standby takes no writes either. So the new one is not synchronous until it has a
// standby again, as orchestrators commonly have it, and nothing is promoted before that.
func (p *postgresPair) failOver() (string, error) {
	death := deaths[p.changes%len(deaths)]
	p.changes++
	end, err := death.end(p)
	if err != nil {
		return "", err
	}
	p.stream.Cut()
	p.stream.Release()
	p.standby.Promote(p.tb)
	missing, err := askPostgres(p.standby,
		"SELECT greatest($1::text::pg_lsn - pg_last_wal_replay_lsn(), 0)::text", end)
	if err != nil {
		return "", err
	}
	p.primary, p.standby = p.standby, p.primary
	p.stream.SetUpstream(p.primary.Addr)
	p.standby.Follow(p.tb, p.stream.Addr(), standbyName)
	p.standby.Start()
	seen := fmt.Sprintf("the primary was %s; %s was promoted, without %s bytes of its log",
		death.how, p.primary.Addr, missing)
	return seen, p.settle()
}

// cutOff lets the primary go on for a while before it is killed, but nothing of what it does comes to the standby.
func (p *postgresPair) cutOff() (string, error) {
	p.stream.Hold()
	time.Sleep(cutOff)
	return p.kill()
}

func (p *postgresPair) kill() (string, error) {
	end, err := p.logEnd()
	p.primary.Kill()
	return end, err
}

func (p *postgresPair) stop() (string, error) {
	end, err := p.logEnd()
	p.primary.Stop()
	return end, err
}

func (p *postgresPair) logEnd() (string, error) {
	return askPostgres(p.primary, "SELECT pg_current_wal_flush_lsn()::text")
}

// settle returns once the standby has all that the primary has acknowledged so far, and if it is a synchronous one, all
// that it will acknowledge.
func (p *postgresPair) settle() error {
	state := "async"
	if p.synchronous {
		state = "sync"
		if err := p.synchronize(); err != nil {
			return err
		}
	}
	end, err := p.logEnd()
	if err != nil {
		return err
	}
	return p.await("the standby has caught up", "1",
		"SELECT count(*)::text FROM pg_stat_replication WHERE flush_lsn >= $1::text::pg_lsn AND sync_state = $2", end, state)
}

// synchronize has the primary's commits wait for the standby. A new connection shows the setting once the server's
// first process has read it and told all others. The one that makes it take effect does so before it carries out a
// checkpoint.
func (p *postgresPair) synchronize() error {
	err := execPostgres(p.primary,
		"ALTER SYSTEM SET synchronous_standby_names = '"+standbyName+"'", "SELECT pg_reload_conf()")
	if err != nil {
		return err
	}
	if err := p.await("the setting is read", standbyName, "SHOW synchronous_standby_names"); err != nil {
		return err
	}
	return execPostgres(p.primary, "CHECKPOINT")
}

// await asks the primary, over a new connection each time, until it has the answer.
func (p *postgresPair) await(what, answer, query string, args ...any) (err error) {
	var got string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if got, err = askPostgres(p.primary, query, args...); err == nil && got == answer {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("it was waited %v until %s; the last answer is %q", patience, what, got), err)
}
