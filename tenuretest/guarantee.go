package tenuretest

import (
	"context"
	"slices"

	"github.com/tenure-go/tenure"
)

func guaranteeReason(c *trial) {
	var got tenure.Guarantee
	err := c.accepted(func(ctx context.Context) (err error) {
		got, err = c.store.(tenure.Guarantor).Guarantee(ctx)
		return err
	})
	switch {
	case err != nil:
		c.fail("Guarantee returned the error %v", err)
	case got.Grade > tenure.GradeExclusive:
		c.fail("Guarantee returned %v", got.Grade)
	case len(got.Reasons) == 0 || slices.Contains(got.Reasons, ""):
		c.fail("Guarantee returned the grade %q with the reasons %q", got.Grade, got.Reasons)
	}
}

func ttlUnit(c *trial) {
	if unit := c.store.(tenure.TTLUnit).TTLUnit(); unit <= 0 || unit > tenure.MaxTTL {
		c.fail("TTLUnit returned %v", unit)
	}
}
