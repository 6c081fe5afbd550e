package guard

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/tenure-go/tenure"
)

// EncodeName makes an election's name fit for headers: everything but letters, digits, and "-._~" is percent-encoded.
func EncodeName(name string) string { return strings.ReplaceAll(url.QueryEscape(name), "+", "%20") }

// DecodeName reads what [EncodeName] has written. The error wraps [tenure.ErrConfig] if it is no election's name.
func DecodeName(text string) (string, error) {
	name, err := url.PathUnescape(text)
	if err != nil {
		return "", err
	}
	return name, tenure.CheckElection(name)
}

// ParseToken accepts a token in the one form in which it is sent: decimal digits without zeros in front.
func ParseToken(text string) (uint64, error) {
	token, err := strconv.ParseUint(text, 10, 64)
	if err != nil || token == 0 || token > tenure.MaxToken || strconv.FormatUint(token, 10) != text {
		return 0, fmt.Errorf("%.40q is no fencing token, which is a number from 1 to %d", text, uint64(tenure.MaxToken))
	}
	return token, nil
}
