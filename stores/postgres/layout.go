package postgres

import (
	"crypto/sha256"
	_ "embed" // for the schema
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure"
)

const (
	// maxIdentifier is how many bytes PostgreSQL keeps of an identifier. What is longer it cuts, which would make one
	// table of two.
	maxIdentifier = 63
	// longestSuffix is that of the table's name in the names derived from it.
	longestSuffix = len("_leaders")
)

// layout knows the names of everything that a store has in the database, and the statements that use them.
type layout struct {
	schema, name string // as they are
	table        string // quoted, with the schema, as all that follow
	state        string
	leaders      string
	term         string // the index, which bears no schema
	channel      string // of notifications, not quoted
	sql          statements
}

func newLayout(schema, name string) (*layout, error) {
	if err := checkIdentifier("schema", schema, maxIdentifier); err != nil {
		return nil, err
	}
	if err := checkIdentifier("table", name, maxIdentifier-longestSuffix); err != nil {
		return nil, err
	}
	quoted := func(suffix string) string { return pgx.Identifier{schema, name + suffix}.Sanitize() }
	l := &layout{
		schema: schema, name: name,
		table: quoted(""), state: quoted("_state"), leaders: quoted("_leaders"),
		term: pgx.Identifier{name + "_term"}.Sanitize(), channel: channelOf(schema, name),
	}
	l.sql = newStatements(l)
	return l, nil
}

func checkIdentifier(what, name string, limit int) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: the %s has no name", tenure.ErrConfig, what)
	case len(name) > limit:
		return fmt.Errorf("%w: the name of the %s, %q, has more than %d bytes", tenure.ErrConfig, what, name, limit)
	case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return fmt.Errorf("%w: the name of the %s, %q, is no text", tenure.ErrConfig, what, name)
	}
	return nil
}

// channelOf names the channel on which changes are told: channels belong to the whole database, so that it tells the
// table's schema too.
func channelOf(schema, name string) string {
	channel := fmt.Sprintf("tenure:%s.%s", schema, name)
	if len(channel) <= maxIdentifier && !strings.Contains(schema, ".") {
		return channel
	}
	sum := sha256.Sum256([]byte(schema + "\x00" + name))
	return "tenure:" + hex.EncodeToString(sum[:20])
}

// fill puts the names into a text that holds them in braces.
func (l *layout) fill(text string) string {
	return strings.NewReplacer(
		"{table}", l.table, "{state}", l.state, "{leaders}", l.leaders, "{term}", l.term,
		"{schema}", pgx.Identifier{l.schema}.Sanitize(),
	).Replace(text)
}
