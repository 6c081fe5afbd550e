package sqlstore

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tenure-go/tenure"
)

// longestName leaves room for the names that are made from a table's; PostgreSQL cuts off what is beyond 63 bytes.
const longestName = 48

// Table returns the quoted name of a table, with that of its schema before it unless schema is empty. The error wraps
// [tenure.ErrConfig] unless both can be names in every database: 1 to 48 bytes of UTF-8 without control characters.
func (s Syntax) Table(schema, name string) (string, error) {
	if err := checkIdentifier("table", name); err != nil {
		return "", err
	}
	if schema != "" {
		if err := checkIdentifier("schema", schema); err != nil {
			return "", err
		}
	}
	return s.qualified(schema, name), nil
}

func (s Syntax) qualified(schema, name string) string {
	if schema == "" {
		return s.Quote(name)
	}
	return s.Quote(schema) + "." + s.Quote(name)
}

func checkIdentifier(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: the %s has no name", tenure.ErrConfig, what)
	case len(name) > longestName:
		return fmt.Errorf("%w: the name of the %s, %q, has %d bytes, more than %d",
			tenure.ErrConfig, what, name, len(name), longestName)
	case !utf8.ValidString(name), strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%w: the name of the %s, %q, is not valid UTF-8 without control characters",
			tenure.ErrConfig, what, name)
	}
	return nil
}
