package sqlstore

// defaultTable is the table of records without [WithTable].
const defaultTable = "tenure_elections"

// Option configures a [Store].
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

// config is what the options fill in.
type config struct {
	schema, table string
	existing      bool
}

// WithTable sets the name of the table of records; that of the table beside it, which holds the layout's version and
// the floor of tokens, is the same with "_meta" behind it. Default "tenure_elections". Bounds: 1 to 48 bytes of UTF-8
// without control characters. The name is quoted, so that letter case counts where the database lets it.
func WithTable(name string) Option { return option(func(c *config) { c.table = name }) }

// WithSchema sets the schema that holds the tables, in MySQL the database, which must exist. Default: that of the
// connection. Bounds as for [WithTable].
func WithSchema(name string) Option { return option(func(c *config) { c.schema = name }) }

// WithExistingTables has [Open] and [Store.Migrate] create and change nothing: they only check that the tables are
// there, as [MigrationSQL] makes them, and fail with [tenure.ErrNoStore] if they are not. It is for programs that only
// look, or that shall never create anything. Default: Open and Migrate create them.
func WithExistingTables() Option { return option(func(c *config) { c.existing = true }) }

func newConfig(options []Option) *config {
	c := &config{table: defaultTable}
	for _, o := range options {
		if o != nil {
			o.apply(c)
		}
	}
	return c
}
