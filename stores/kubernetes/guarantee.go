package kubernetes

import (
	"context"
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/tenure-go/tenure"
)

// Guarantee implements [tenure.Guarantor]: exclusive, since the API server acknowledges a write when a majority of etcd
// has it on its disks. It tries which of the rights are there without writing anything, and fails if the API server
// cannot be read.
func (s *Store) Guarantee(ctx context.Context) (tenure.Guarantee, error) {
	if err := s.usable(ctx); err != nil {
		return tenure.Guarantee{}, fmt.Errorf("kubernetes: guarantee: %w", err)
	}
	if _, err := s.floor(ctx); err != nil {
		return tenure.Guarantee{}, fmt.Errorf("kubernetes: guarantee: %w", err)
	}
	g := gradeOf(s.serverVersion(ctx))
	for _, try := range []func(context.Context) string{s.tryCreate, s.tryWatch} {
		if reason := try(ctx); reason != "" {
			g.Reasons = append(g.Reasons, reason)
		}
	}
	return g, nil
}

// gradeOf judges by the version that an API server names. Distributions that can do without etcd do not say which
// storage they use.
func gradeOf(version string) tenure.Guarantee {
	for _, distribution := range []string{"k3s", "rke2", "k0s"} {
		if strings.Contains(version, "+"+distribution) {
			return tenure.Guarantee{Reasons: []string{fmt.Sprintf("%s can keep its objects elsewhere than in etcd, and "+
				"does not say where: with etcd it is exclusive, with a database as strong as that", version)}}
		}
	}
	return tenure.Guarantee{Grade: tenure.GradeExclusive, Reasons: []string{
		"the API server acknowledges a write when a majority of etcd has it on disk; whether etcd runs with its usual " +
			"settings, and on how many servers, a client cannot see",
		"the resource versions that tell one state from the next begin again if etcd is restored from a backup " +
			"without --bump-revision",
	}}
}

// serverVersion returns what the API server says of itself, empty if it may not be asked with this client.
func (s *Store) serverVersion(ctx context.Context) string {
	client, ok := s.client.(interface{ RESTClient() rest.Interface })
	if !ok || client.RESTClient() == nil {
		return ""
	}
	text, err := client.RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return ""
	}
	return string(text)
}

// tryCreate asks the API server to do as if it made a Lease.
func (s *Store) tryCreate(ctx context.Context) string {
	_, err := s.leases.Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{GenerateName: digestPrefix, Labels: s.config.labels}, Spec: specOf(tenure.Record{}),
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	switch {
	case err == nil:
		return ""
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("Leases cannot be created, so that each has to be there before: %v", err)
	}
	return fmt.Sprintf("whether Leases can be created is not known: %v", err)
}

// tryWatch asks for a watch and ends it.
func (s *Store) tryWatch(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	_, err := s.leases.List(ctx, metav1.ListOptions{Limit: 1})
	if err == nil {
		err = s.peek(ctx)
	}
	switch {
	case err == nil:
		return ""
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("changes are not pushed, so that candidates poll, unless the right is for the one Lease that "+
			"is watched: %v", err)
	}
	return fmt.Sprintf("whether changes are pushed is not known: %v", err)
}

func (s *Store) peek(ctx context.Context) error {
	second := int64(1)
	w, err := s.leases.Watch(ctx, metav1.ListOptions{TimeoutSeconds: &second})
	if err == nil {
		w.Stop()
	}
	return err
}
