// Package postgres keeps elections in a table of a PostgreSQL database.
package postgres
