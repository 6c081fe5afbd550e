package kubernetes

import (
	"context"
	"fmt"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// List implements [tenure.Lister]. It names every Lease of the namespace, those that only electors of client-go use
// included.
func (s *Store) List(ctx context.Context) ([]string, error) {
	var names []string
	leases, err := s.list(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("kubernetes: listing: %w", err)
	}
	for i := range leases.Items {
		if election, ok := electionOf(&leases.Items[i]); ok {
			names = append(names, election)
		}
	}
	slices.Sort(names)
	return names, nil
}

// list returns the Leases of the namespace, or only the one that is named.
func (s *Store) list(ctx context.Context, name string) (*coordinationv1.LeaseList, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	ctx, asked := hear(ctx)
	leases, err := s.leases.List(ctx, metav1.ListOptions{FieldSelector: selector(name)})
	if err != nil {
		return nil, s.failed(err, asked)
	}
	return leases, nil
}

func selector(name string) string {
	if name == "" {
		return ""
	}
	return metav1.ObjectNameField + "=" + name
}

// electionOf returns the election of a Lease. One that is a copy, or the floor, is that of none.
func electionOf(lease *coordinationv1.Lease) (election string, ok bool) {
	c, err := contentOf(lease)
	if err != nil || c.Election == "" {
		return lease.Name, plain(lease.Name)
	}
	return c.Election, leaseName(c.Election) == lease.Name
}
