package sidecar

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// Bounds of a token in bytes.
const (
	minToken = 16
	maxToken = 4096
)

// ReadToken reads a token from a file that others cannot read. White space around it does not count.
func ReadToken(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return "", fmt.Errorf("reading the token: %w", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("the token file %s is no regular file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o007 != 0:
		return "", fmt.Errorf("everybody can reach the token file %s, whose mode is %#o: chmod o= it", path,
			info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(file, maxToken+1))
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if err := checkToken(token); err != nil {
		return "", fmt.Errorf("the token in %s %w", path, err)
	}
	return token, nil
}

func checkToken(token string) error {
	switch {
	case len(token) < minToken:
		return fmt.Errorf("has %d bytes, want %d at least", len(token), minToken)
	case len(token) > maxToken:
		return fmt.Errorf("is longer than %d bytes", maxToken)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("has characters that no header can carry: want one line of ASCII without blanks")
	}
	return nil
}
