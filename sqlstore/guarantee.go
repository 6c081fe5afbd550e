package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/tenure-go/tenure"
)

// Guarantee implements [tenure.Guarantor]: what the dialect finds out about the live server.
func (s *Store) Guarantee(ctx context.Context) (guarantee tenure.Guarantee, err error) {
	err = s.with(ctx, func(conn *sql.Conn) error {
		guarantee, err = s.dialect.Guarantee(ctx, conn)
		return err
	})
	if err != nil {
		return tenure.Guarantee{}, fmt.Errorf("sqlstore: guarantee: %w", err)
	}
	return guarantee, nil
}

// judgement collects reasons and the weakest of their grades.
type judgement struct{ tenure.Guarantee }

func judge() *judgement {
	return &judgement{tenure.Guarantee{Grade: tenure.GradeExclusive}}
}

// limit lowers the grade if the condition holds. The most limiting reason comes first.
func (j *judgement) limit(holds bool, grade tenure.Grade, reason string, args ...any) {
	if !holds {
		return
	}
	reason = fmt.Sprintf(reason, args...)
	if grade < j.Grade {
		j.Grade = grade
		j.Reasons = append([]string{reason}, j.Reasons...)
		return
	}
	j.Reasons = append(j.Reasons, reason)
}
