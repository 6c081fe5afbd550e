package etcd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/tenure-go/tenure"
)

// Guarantee implements [tenure.Guarantor] by what a member says of the cluster now: exclusive, unless some member is
// known to hold other data than the rest. It names alarms, a number of members that survives the loss of none, and
// learners.
func (s *Store) Guarantee(ctx context.Context) (tenure.Guarantee, error) {
	g, err := s.probe(ctx)
	if err != nil {
		return tenure.Guarantee{}, fmt.Errorf("etcd: guarantee: %w", err)
	}
	return g, nil
}

func (s *Store) probe(ctx context.Context) (tenure.Guarantee, error) {
	if err := s.usable(); err != nil {
		return tenure.Guarantee{}, err
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	conn := s.client.ActiveConnection()
	members, err := pb.NewClusterClient(conn).MemberList(ctx, &pb.MemberListRequest{Linearizable: true})
	if err != nil {
		return tenure.Guarantee{}, s.failed(err)
	}
	status, err := pb.NewMaintenanceClient(conn).Status(ctx, &pb.StatusRequest{})
	if err != nil {
		return tenure.Guarantee{}, s.failed(err)
	}
	return guaranteeOf(members.Members, status), nil
}

func guaranteeOf(members []*pb.Member, status *pb.StatusResponse) tenure.Guarantee {
	g := tenure.Guarantee{Grade: tenure.GradeExclusive}
	for _, complaint := range status.Errors {
		switch {
		case strings.Contains(complaint, pb.AlarmType_CORRUPT.String()):
			g.Grade = tenure.GradeBestEffort
			g.Reasons = slices.Insert(g.Reasons, 0, "alarm CORRUPT: some member holds other data than the rest, so that reads "+
				"and writes may contradict each other ("+complaint+")")
		case strings.Contains(complaint, pb.AlarmType_NOSPACE.String()):
			g.Reasons = append(g.Reasons, "alarm NOSPACE: the database is full and writes are refused, renewals too, until it "+
				"was compacted and defragmented and the alarm disarmed ("+complaint+")")
		default:
			g.Reasons = append(g.Reasons, "the member complains: "+complaint)
		}
	}
	g.Reasons = append(g.Reasons, count(members)...)
	return tenure.Guarantee{Grade: g.Grade, Reasons: append(g.Reasons, "members that run with --unsafe-no-fsync lose "+
		"acknowledged writes with their power; a client cannot see whether they do")}
}

// count says how many members keep a write, and how many may be lost.
func count(members []*pb.Member) (reasons []string) {
	voters := 0
	for _, m := range members {
		if !m.IsLearner {
			voters++
		}
	}
	switch spare := (voters - 1) / 2; {
	case voters == 1:
		reasons = append(reasons, "one member: it acknowledges a write once it is synced; records and tokens are gone with "+
			"its disk")
	case spare == 0:
		reasons = append(reasons, fmt.Sprintf("%d members: a write is acknowledged by all of them, and none may be lost",
			voters))
	default:
		reasons = append(reasons, fmt.Sprintf("%d members: a write is acknowledged by %d of them, and %d may be lost",
			voters, voters/2+1, spare))
	}
	if learners := len(members) - voters; learners > 0 {
		reasons = append(reasons, fmt.Sprintf("%d of the members are learners, which do not count yet", learners))
	}
	return reasons
}
