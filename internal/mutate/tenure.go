package main

import (
	"fmt"
	"slices"
	"strings"
)

// setting says what is changed, and who judges that.
type setting struct {
	packages  []string // directories, relative to the root
	leftOut   []string // files that are not changed
	judges    []*judge // the cheapest first
	survivors string   // the file that explains
}

// tenure is the setting of this repository.
func tenure(histories int, seed uint64) setting {
	const protocol, root = "internal/protocol", "."
	return setting{
		packages:  []string{protocol, root},
		leftOut:   []string{"log.go"}, // texts for people
		survivors: "internal/mutate/survivors.txt",
		judges: []*judge{
			{name: "unit", test: protocol, of: []string{protocol}},
			{
				name: "sim", program: "sim/cmd/tenure-sim", of: []string{protocol}, reads: []string{"sim"},
				// One worker: as many mutants are judged at once as there are processors.
				flags: []string{"-workers", "1", "-histories", fmt.Sprint(histories), "-seed", fmt.Sprint(seed)},
			},
			{
				name: "root", test: root, of: []string{protocol, root},
				skip: []string{"docs_test.go", "docs_go_test.go", "repository_test.go", "gomod_test.go", "pkgdoc_test.go"},
			},
			{name: "bubble", test: "sim/bubble", of: []string{root}},
		},
	}
}

// only returns the judges named, all of them if none is.
func only(judges []*judge, names string) ([]*judge, error) {
	if names == "" {
		return judges, nil
	}
	wanted := strings.Split(names, ",")
	for _, name := range wanted {
		if !slices.ContainsFunc(judges, func(j *judge) bool { return j.name == name }) {
			return nil, fmt.Errorf("there is no judge %q, but %s", name, namesOf(judges))
		}
	}
	return slices.DeleteFunc(slices.Clone(judges), func(j *judge) bool { return !slices.Contains(wanted, j.name) }), nil
}

func namesOf(judges []*judge) string {
	var names []string
	for _, j := range judges {
		names = append(names, j.name)
	}
	return strings.Join(names, ", ")
}
