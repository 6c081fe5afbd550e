package sqlstore

import (
	"fmt"
	"slices"
	"strings"
)

// statements are the texts that a store sends. Each is prepared for one dialect and one pair of tables.
type statements struct {
	load, create, update, list, unused, raise, remove string

	confirm string // empty if what is read needs none

	layout     string     // reads the layout's version
	migrations [][]string // the statements of each step, which can be repeated
}

// writer composes a statement and numbers its parameters.
type writer struct {
	syntax Syntax
	params int
}

// next returns the next parameter.
func (w *writer) next() string {
	w.params++
	return w.syntax.Placeholder(w.params)
}

// each returns a parameter for each name, or what form makes of the two.
func (w *writer) each(names []string, form string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strings.NewReplacer("NAME", name, "PARAM", w.next()).Replace(form)
	}
	return strings.Join(out, ", ")
}

func newStatements(syntax Syntax, c *config) (*statements, error) {
	records, err := syntax.Table(c.schema, c.table)
	if err != nil {
		return nil, err
	}
	meta := syntax.qualified(c.schema, c.table+"_meta")
	s := &statements{confirm: syntax.Confirm, migrations: migrations(syntax, records, meta)}
	s.reading(syntax, records, meta)
	s.writing(syntax, records, meta)
	s.pruning(syntax, records, meta)
	return s, nil
}

func (s *statements) reading(syntax Syntax, records, meta string) {
	w := &writer{syntax: syntax}
	read := append([]string{"m.layout", "m.token_floor", "e.election", "e.version"}, prefixed("e.", columns)...)
	s.load = fmt.Sprintf("SELECT %s FROM %s m LEFT JOIN %s e ON e.election = %s WHERE m.id = 1",
		strings.Join(read, ", "), meta, records, w.next())
	s.list = "SELECT election FROM " + records
	s.layout = fmt.Sprintf("SELECT layout FROM %s WHERE id = 1", meta)
}

// writing: a swap is one statement, atomic by itself, whatever transactions run beside it.
func (s *statements) writing(syntax Syntax, records, meta string) {
	w := &writer{syntax: syntax}
	s.update = fmt.Sprintf("UPDATE %s SET %s, changed_ms = %s WHERE election = %s AND version = %s", records,
		w.each(slices.Concat([]string{"version"}, columns), "NAME = PARAM"), syntax.Now, w.next(), w.next())

	// The row that holds the floor is locked until the new record is committed, so that Prune cannot raise it between
	// the comparison and the insertion.
	w = &writer{syntax: syntax}
	all := slices.Concat([]string{"version"}, columns, []string{"election"})
	s.create = strings.TrimSpace(fmt.Sprintf(
		"INSERT INTO %s (%s, changed_ms) SELECT %s, %s FROM %s WHERE id = 1 AND token_floor <= %s %s", records,
		strings.Join(all, ", "), w.each(all, "PARAM"), syntax.Now, meta, w.next(), syntax.ForShare))
}

func (s *statements) pruning(syntax Syntax, records, meta string) {
	w := &writer{syntax: syntax}
	s.unused = fmt.Sprintf("SELECT election, version, %s FROM %s WHERE changed_ms <= %s - %s",
		strings.Join(columns, ", "), records, syntax.Now, w.next())
	w = &writer{syntax: syntax}
	s.raise = fmt.Sprintf("UPDATE %s SET token_floor = %s WHERE id = 1 AND token_floor < %s", meta, w.next(), w.next())
	w = &writer{syntax: syntax}
	s.remove = fmt.Sprintf("DELETE FROM %s WHERE election = %s AND version = %s", records, w.next(), w.next())
}

func prefixed(prefix string, names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = prefix + name
	}
	return out
}
