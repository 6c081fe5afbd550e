package probe

import (
	"context"

	"github.com/tenure-go/tenure"
)

// Grade returns how far the store's acknowledged writes can be relied upon.
func (p *Probe) Grade(ctx context.Context) (tenure.Guarantee, Finding, error) {
	const check = "grade"
	guarantor, ok := p.Store.(tenure.Guarantor)
	if !ok {
		return tenure.Guarantee{}, found(check, Warning, "this store cannot tell what it guarantees"), nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	g, err := guarantor.Guarantee(ctx)
	if err != nil {
		return g, Finding{}, err
	}
	result := Warning
	if g.Grade == tenure.GradeExclusive {
		result = OK
	}
	return g, found(check, result, "%v", g.Grade), nil
}
