package guard

import (
	"errors"
	"io/fs"
	"os/exec"
)

// refusal reports that the command could not be started because of err.
func refusal(err error) report {
	code := CodeNotExecutable
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		code = CodeNotFound
	}
	return report{Kind: reportRefused, Code: code, Text: reason(err)}
}

// failure reports that the guard itself could not be set up.
func failure(err error) report { return report{Kind: reportRefused, Text: err.Error()} }

// reason is err without the name of the command, which the reader knows.
func reason(err error) string {
	var search *exec.Error
	if errors.As(err, &search) {
		err = search.Err
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return err.Error()
}
