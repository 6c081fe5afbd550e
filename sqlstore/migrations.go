package sqlstore

import (
	"fmt"
	"strings"
)

// currentLayout is the version of the tables that this version of the library needs. It is raised only when an older
// one could act wrongly on the tables; columns that older ones may ignore are added within a layout.
const currentLayout = 1

// migrations returns, for each layout, the statements that lead to it from the one before. Each statement can be
// repeated, also by several processes at once, and the last one of a step says that the step is done.
func migrations(syntax Syntax, records, meta string) [][]string {
	row := meta + " (id, layout, token_floor) VALUES (1, 0, 0)"
	replace := strings.NewReplacer(
		"<records>", records, "<meta>", meta, "<key>", syntax.KeyType, "<text>", syntax.TextType,
		"<options>", syntax.TableOptions, "<first row>", fmt.Sprintf(syntax.InsertNew, row),
	)
	steps := [][]string{
		{createRecords, createMeta, "<first row>", "UPDATE <meta> SET layout = 1 WHERE id = 1 AND layout < 1"},
	}
	for _, step := range steps {
		for i, statement := range step {
			step[i] = strings.TrimSpace(replace.Replace(statement))
		}
	}
	return steps
}

const createRecords = `CREATE TABLE IF NOT EXISTS <records> (
  election <key> NOT NULL PRIMARY KEY,
  version <key> NOT NULL,
  token bigint NOT NULL,
  leader <text> NOT NULL,
  session <text> NOT NULL,
  ttl_ms bigint NOT NULL,
  renewals bigint NOT NULL,
  address <text> NOT NULL,
  metadata <text>,
  reserved <text> NOT NULL,
  forgotten smallint NOT NULL,
  request <text>,
  pause <text>,
  elected_at <text>,
  renewed_at <text>,
  extra <text>,
  changed_ms bigint NOT NULL
) <options>`

const createMeta = `CREATE TABLE IF NOT EXISTS <meta> (
  id smallint NOT NULL PRIMARY KEY,
  layout integer NOT NULL,
  token_floor bigint NOT NULL
) <options>`
