package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tenure-go/tenure/bench/plot"
)

// figure is one that is drawn from a table.
type figure struct {
	name, heading string
	of            func(plot.Table) (*plot.Figure, error)
}

func (f figure) draw(document, dir string) error {
	table, err := plot.ReadTable(document, f.heading)
	if err != nil {
		return err
	}
	drawn, err := f.of(table)
	if err != nil {
		return err
	}
	return drawn.Write(dir, f.name)
}

// storeFigures are of our own stores.
func storeFigures() []figure {
	return []figure{
		{"hand-over", "Ratios", storeHandOvers},
		{"requests", "Candidates at rest", storeRequests},
	}
}

// storeHandOvers leaves out stores that are polled: theirs is counted in polls.
func storeHandOvers(t plot.Table) (*plot.Figure, error) {
	f := &plot.Figure{
		Title: "Hand-over, in store round trips", Kind: plot.Bars,
		Note: "Medians, of stores that push. Two round trips are the physical limit: a release, and a bid.",
		Y:    plot.Axis{Label: "store round trips", Log: true},
	}
	for i, name := range t.Head {
		crowd, ok := strings.CutPrefix(name, "hand-over among ")
		if !ok {
			continue
		}
		s := plot.Series{Name: "among " + crowd, Ours: len(f.Series) == 0}
		for _, row := range t.Rows {
			cell := plot.Cell(row, i)
			if v, ok := plot.Value(cell); ok && !strings.Contains(cell, "polls") {
				s.Points = append(s.Points, plot.Point{Label: row[0], Y: v})
			}
		}
		f.Series = append(f.Series, s)
	}
	return f, f.Check()
}

// storeRequests counts calls where the server counts nothing.
func storeRequests(t plot.Table) (*plot.Figure, error) {
	s := plot.Series{Name: "requests", Ours: true}
	counted := t.Column("requests per candidate-minute")
	for _, row := range t.Rows {
		if v, ok := plot.Value(plot.Cell(row, counted)); ok {
			s.Points = append(s.Points, plot.Point{Label: row[0], Y: v})
		}
	}
	f := &plot.Figure{
		Title: "Requests at rest, per candidate-minute", Kind: plot.Bars, Series: []plot.Series{s},
		Note: "A leader and nine followers at default settings; as the server counts.",
	}
	return f, f.Check()
}

// peerFigures are of other libraries beside ours. Only what runs on the same kind of server can be compared.
func peerFigures() []figure {
	figures := []figure{{"requests-peers", "Requests at rest, leases at defaults", peerRequests}}
	for _, server := range []string{"Redis", "PostgreSQL", "NATS", "etcd", "Kubernetes"} {
		figures = append(figures, figure{
			"hand-over-" + strings.ToLower(server), "Hand-over among many",
			func(t plot.Table) (*plot.Figure, error) { return peerHandOvers(t, server) },
		})
	}
	return figures
}

func peerHandOvers(t plot.Table, server string) (*plot.Figure, error) {
	f := &plot.Figure{
		Title: "Hand-over among many, on " + server, Kind: plot.Lines, Note: "Medians, at equal leases.",
		X: plot.Axis{Label: "candidates", Log: true}, Y: plot.Axis{Label: "milliseconds", Log: true},
	}
	for _, row := range t.Rows {
		if plot.Cell(row, t.Column("server")) != server {
			continue
		}
		s := contender(row)
		for i, head := range t.Head {
			x, crowd := plot.Value(head)
			if y, ok := plot.Value(plot.Cell(row, i)); ok && crowd {
				s.Points = append(s.Points, plot.Point{X: x, Y: y})
			}
		}
		if len(s.Points) > 0 {
			f.Series = append(f.Series, s)
		}
	}
	return f, f.Check()
}

func peerRequests(t plot.Table) (*plot.Figure, error) {
	leader, follower := t.Column("leader: requests"), t.Column("follower: requests")
	if leader < 0 || follower < 0 {
		return nil, errors.New("the table does not tell leaders from followers")
	}
	both := []plot.Series{{Name: "tenure", Ours: true}, {Name: "others"}}
	for _, row := range t.Rows {
		l, ok := plot.Value(plot.Cell(row, leader))
		each, counted := plot.Value(plot.Cell(row, follower))
		if !ok || !counted {
			continue
		}
		s := &both[1]
		if contender(row).Ours {
			s = &both[0]
		}
		label := fmt.Sprintf("%s, on %s", contender(row).Name, plot.Cell(row, t.Column("server")))
		s.Points = append(s.Points, plot.Point{Label: label, Y: (l + 9*each) / 10})
	}
	f := &plot.Figure{
		Title: "Requests at rest, per candidate-minute", Kind: plot.Bars, Series: both,
		Note: "A leader and nine followers, leases at defaults; as the server counts.",
		Y:    plot.Axis{Label: "requests", Log: true},
	}
	return f, f.Check()
}

// contender is the library of a row; ours stand in bold.
func contender(row []string) plot.Series {
	return plot.Series{Name: strings.Trim(row[0], "*"), Ours: strings.HasPrefix(row[0], "**")}
}
