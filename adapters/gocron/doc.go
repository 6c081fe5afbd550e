// Package gocron lets schedulers of github.com/go-co-op/gocron run their jobs on one process only: the leader of an
// election.
package gocron
