package postgres_test

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/postgres"
)

// A leader's transaction that cannot commit once somebody else was elected.
func ExampleFence() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, "postgres://db.example/app")
	if err != nil {
		panic(err)
	}
	store, err := postgres.New(pool)
	if err != nil {
		panic(err)
	}
	candidate, err := tenure.New(store, "billing")
	if err != nil {
		panic(err)
	}
	err = candidate.Run(ctx, func(ctx context.Context, term tenure.Term) error {
		tx, err := pool.Begin(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback(context.WithoutCancel(ctx))
		if err := postgres.Fence(ctx, tx, term); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "INSERT INTO sent (invoice, token) VALUES (42, $1)", term.Token); err != nil {
			return err
		}
		return tx.Commit(ctx)
	})
	if err != nil {
		panic(err)
	}
}
