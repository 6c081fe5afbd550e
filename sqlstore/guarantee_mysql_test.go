package sqlstore

import (
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
)

// What other servers say of their replicas than those that the tests start.
func TestMySQLReplicationIsJudged(t *testing.T) {
	const exclusive, lesser = tenure.GradeExclusive, tenure.GradeUntilFailover
	for name, test := range map[string]struct {
		is    settings
		grade tenure.Grade
		says  string
	}{
		"Galera":            {settings{"wsrep_on": "ON", "slaves_connected": "0"}, lesser, "a Galera cluster"},
		"no log":            {settings{"wsrep_on": "OFF"}, exclusive, "no binary log"},
		"no replica":        {settings{"log_bin": "1", "slaves_connected": "0"}, exclusive, "no replica is connected"},
		"replicas":          {settings{"log_bin": "1", "slaves_connected": "2"}, lesser, "2 replicas"},
		"perhaps a replica": {settings{"log_bin": "ON"}, lesser, "there can be replicas"},
	} {
		t.Run(name, func(t *testing.T) {
			j := judge()
			test.is.replication(j)
			if j.Grade != test.grade || !strings.Contains(strings.Join(j.Reasons, "; "), test.says) {
				t.Errorf("%v is judged %+v", test.is, j.Guarantee)
			}
		})
	}
}
