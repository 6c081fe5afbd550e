package etcd

import (
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

func TestGrades(t *testing.T) {
	voters := func(n int) (members []*pb.Member) {
		for range n {
			members = append(members, &pb.Member{})
		}
		return members
	}
	for name, test := range map[string]struct {
		members []*pb.Member
		errors  []string
		want    tenure.Grade
		reasons []string // parts of the first ones
	}{
		"three":          {voters(3), nil, tenure.GradeExclusive, []string{"by 2 of them, and 1 may be lost", "no-fsync"}},
		"five":           {voters(5), nil, tenure.GradeExclusive, []string{"by 3 of them, and 2 may be lost"}},
		"two":            {voters(2), nil, tenure.GradeExclusive, []string{"none may be lost"}},
		"one":            {voters(1), nil, tenure.GradeExclusive, []string{"gone with its disk"}},
		"with a learner": {append(voters(3), &pb.Member{IsLearner: true}), nil, tenure.GradeExclusive, []string{"3 members", "1 of the members are learners"}},
		"full":           {voters(3), []string{`memberID:1 alarm:NOSPACE`}, tenure.GradeExclusive, []string{"NOSPACE", "3 members"}},
		"corrupt":        {voters(3), []string{`memberID:1 alarm:NOSPACE`, `memberID:1 alarm:CORRUPT`}, tenure.GradeBestEffort, []string{"CORRUPT", "NOSPACE"}},
		"else":           {voters(3), []string{"etcdserver: no leader"}, tenure.GradeExclusive, []string{"no leader"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := guaranteeOf(test.members, &pb.StatusResponse{Errors: test.errors})
			if g.Grade != test.want {
				t.Errorf("the grade is %v, want %v", g.Grade, test.want)
			}
			for i, part := range test.reasons {
				if !strings.Contains(g.Reasons[i], part) {
					t.Errorf("the reasons are %q, want %q in number %d", g.Reasons, part, i)
				}
			}
		})
	}
}

// The probe asks the live cluster: of members, and of alarms as members spell them.
func TestGuaranteeProbesTheCluster(t *testing.T) {
	members := testserver.StartEtcdCluster(t, 3)
	s, client := openStore(t, all(members), ""), connect(t, members[0].Addr)
	g, err := s.Guarantee(t.Context())
	if err != nil || g.Grade != tenure.GradeExclusive || !strings.Contains(g.Reasons[0], "3 members") {
		t.Errorf("the guarantee is %v, %v", g, err)
	}
	list, err := client.MemberList(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list.Members {
		if m.Name == members[2].Name {
			storetest.Eventually(t, "a member can be removed", func() bool { // which etcd refuses to new clusters
				_, err := client.MemberRemove(t.Context(), m.ID)
				return err == nil
			})
		}
	}
	storetest.Eventually(t, "a member is missed", func() bool {
		g, err := s.Guarantee(t.Context())
		return err == nil && strings.Contains(g.Reasons[0], "2 members")
	})
	if _, err := pb.NewMaintenanceClient(client.ActiveConnection()).Alarm(t.Context(), &pb.AlarmRequest{
		Action: pb.AlarmRequest_ACTIVATE, Alarm: pb.AlarmType_CORRUPT, MemberID: 1,
	}); err != nil {
		t.Fatal(err)
	}
	storetest.Eventually(t, "the alarm is told", func() bool {
		g, err := s.Guarantee(t.Context())
		return err == nil && g.Grade == tenure.GradeBestEffort
	})
}
