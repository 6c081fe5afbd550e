package beds

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/bench"
)

// bareValue is about as long as the JSON of a leader's record.
var bareValue = []byte(strings.Repeat("tenure ", 37))

// swapBare replaces a value by reading and swapping it, for stores without anything barer.
func swapBare(ctx context.Context, store tenure.Store, value int) error {
	election := fmt.Sprint("bare-", value)
	now, err := store.Load(ctx, election)
	if err != nil {
		return err
	}
	record := now.Record
	record.Renewals++
	record.Token = max(record.Token, 1)
	_, err = store.CompareAndSwap(ctx, election, now.Version, record)
	return err
}

// get makes the smallest round trip that an HTTP server knows, whatever it answers.
func get(ctx context.Context, address string) error { return getWith(ctx, http.DefaultClient, address) }

func getWith(ctx context.Context, client *http.Client, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// opener opens a store at an address.
type opener = func(ctx context.Context, address string) (bench.Store, error)
