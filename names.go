package tenure

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// maxNameLength bounds the names of elections and candidates in bytes, so that every store can hold them.
const maxNameLength = 255

// CheckElection returns an error wrapping [ErrConfig] unless name can name an election: 1 to 255 bytes of valid
// UTF-8 without control characters. Stores accept every such name and encode what they cannot hold as it is.
func CheckElection(name string) error { return checkName("election", name) }

// checkPlace refuses what names no election in a store.
func checkPlace(store Store, election string) error {
	if store == nil {
		return fmt.Errorf("%w: the store is nil", ErrConfig)
	}
	return CheckElection(election)
}

func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: the %s has no name", ErrConfig, what)
	case len(name) > maxNameLength:
		return fmt.Errorf("%w: the name of the %s has %d bytes, more than %d", ErrConfig, what, len(name), maxNameLength)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: the name of the %s, %q, is not valid UTF-8", ErrConfig, what, name)
	}
	for _, char := range name {
		if unicode.IsControl(char) {
			return fmt.Errorf("%w: the name of the %s, %q, contains a control character", ErrConfig, what, name)
		}
	}
	return nil
}
