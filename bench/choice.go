package bench

import (
	"fmt"
	"slices"
	"strings"
)

// Choice is what a flag chooses from by name. Names do not recur.
type Choice[T any] struct {
	// What is what one of them is called.
	What string
	// All is everything there is to choose from; Name tells the name of one.
	All  []T
	Name func(T) string
}

// Stores returns the choice of beds.
func Stores(beds []Bed) Choice[Bed] {
	return Choice[Bed]{What: "store", All: beds, Name: func(b Bed) string { return b.Name }}
}

// Names returns the names of all, separated by commas.
func (c Choice[T]) Names() string {
	names := make([]string, len(c.All))
	for i, one := range c.All {
		names[i] = c.Name(one)
	}
	return strings.Join(names, ", ")
}

// Find returns the one of that name.
func (c Choice[T]) Find(name string) (T, error) {
	i := slices.IndexFunc(c.All, func(one T) bool { return c.Name(one) == name })
	if i < 0 {
		var none T
		return none, fmt.Errorf("there is no %s %q; known: %s", c.What, name, c.Names())
	}
	return c.All[i], nil
}

// Choose returns those of the names, which are separated by commas, each once; all of them if the text is "all".
func (c Choice[T]) Choose(names string) ([]T, error) {
	if names == "all" {
		return c.All, nil
	}
	var chosen []T
	for name := range strings.SplitSeq(names, ",") {
		one, err := c.Find(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(chosen, func(other T) bool { return c.Name(other) == c.Name(one) }) {
			chosen = append(chosen, one)
		}
	}
	return chosen, nil
}
