// Package sqltest tests packages sqlstore and fence with real drivers and servers: MariaDB, PostgreSQL and SQLite. It
// is a module of its own, never released, so that the root module requires no driver, not even for its tests.
package sqltest
