package tenuretest

import (
	"context"
	"time"

	"github.com/tenure-go/tenure"
)

func (f *faulty) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	result, err := f.call(ctx, OpLoad, election, func(ctx context.Context) (any, error) {
		return f.saw(election)(f.store.Load(ctx, election))
	})
	snapshot, _ := result.(tenure.Snapshot)
	return snapshot, err
}

func (f *faulty) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	record = record.Clone() // a delayed request is carried out when the caller may have changed its own
	result, err := f.call(ctx, OpSwap, election, func(ctx context.Context) (any, error) {
		return f.saw(election)(f.store.CompareAndSwap(ctx, election, old, record))
	})
	snapshot, _ := result.(tenure.Snapshot)
	return snapshot, err
}

// saw keeps what the store has answered for a stale replica to repeat.
func (f *faulty) saw(election string) func(tenure.Snapshot, error) (any, error) {
	return func(snapshot tenure.Snapshot, err error) (any, error) {
		if err == nil {
			f.seen.see(election, snapshot)
		}
		return snapshot, err
	}
}

// Guarantee implements [tenure.Guarantor].
func (f *faulty) Guarantee(ctx context.Context) (tenure.Guarantee, error) {
	result, err := f.call(ctx, OpGuarantee, "", func(ctx context.Context) (any, error) {
		if guarantor, ok := f.store.(tenure.Guarantor); ok {
			return guarantor.Guarantee(ctx)
		}
		return tenure.Guarantee{Grade: tenure.GradeUnknown, Reasons: []string{"the store cannot tell"}}, nil
	})
	guarantee, _ := result.(tenure.Guarantee)
	return guarantee, err
}

// TTLUnit implements [tenure.TTLUnit].
func (f *faulty) TTLUnit() time.Duration {
	if rounder, ok := f.store.(tenure.TTLUnit); ok {
		return rounder.TTLUnit()
	}
	return time.Millisecond
}

type faultyLister struct {
	*faulty
	lister tenure.Lister
}

func (l faultyLister) List(ctx context.Context) ([]string, error) {
	result, err := l.call(ctx, OpList, "", func(ctx context.Context) (any, error) { return l.lister.List(ctx) })
	names, _ := result.([]string)
	return names, err
}

type faultyPruner struct {
	*faulty
	pruner tenure.Pruner
}

func (p faultyPruner) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	result, err := p.call(ctx, OpPrune, "", func(ctx context.Context) (any, error) { return p.pruner.Prune(ctx, unused) })
	names, _ := result.([]string)
	return names, err
}
