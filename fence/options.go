package fence

// defaultTable is the table of marks without [WithTable].
const defaultTable = "tenure_fence"

// Option configures a [Guard].
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct{ schema, table string }

// WithTable sets the name of the table of marks. Default "tenure_fence". Bounds: 1 to 48 bytes of UTF-8 without control
// characters. The name is quoted, so that letter case counts where the database lets it.
func WithTable(name string) Option { return option(func(c *config) { c.table = name }) }

// WithSchema sets the schema that holds the table, in MySQL the database, which must exist. Default: that of the
// connection. Bounds as for [WithTable].
func WithSchema(name string) Option { return option(func(c *config) { c.schema = name }) }

func newConfig(options []Option) *config {
	c := &config{table: defaultTable}
	for _, o := range options {
		if o != nil {
			o.apply(c)
		}
	}
	return c
}
