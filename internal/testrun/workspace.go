package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const module = "github.com/tenure-go/tenure"

// pkg is a package of the workspace that has tests.
type pkg struct {
	dir  string // within the workspace, with slashes; "." is the root
	path string // by which it is imported
	abs  string
}

// name is short, and says which package it is.
func (p pkg) name() string {
	if p.dir == "." {
		return "tenure"
	}
	return p.dir
}

// errNoWorkspace: most tests are those of other modules than the root's.
var errNoWorkspace = errors.New("the go command is told to use no workspace: unset GOWORK")

// workspace lists the packages with tests.
func workspace() ([]pkg, error) {
	if file, err := exec.Command("go", "env", "GOWORK").Output(); err != nil || strings.TrimSpace(string(file)) == "off" {
		return nil, cmp.Or(err, errNoWorkspace)
	}
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", "work")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list work: %w", err)
	}
	var pkgs []pkg
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var p struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list work: %w", err)
		}
		if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			dir := "." + strings.TrimPrefix(p.ImportPath, module)
			pkgs = append(pkgs, pkg{filepath.ToSlash(filepath.Clean(dir)), p.ImportPath, p.Dir})
		}
	}
}
