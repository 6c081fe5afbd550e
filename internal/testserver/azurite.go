package testserver

import (
	"crypto/rand"
	"encoding/base64"
	"strconv"
)

// Azurite is a running emulator of Azure Blob Storage, whose writes survive an orderly restart.
type Azurite struct {
	*Process
	// Addr is its host and port.
	Addr string
	// Account is its only one, and Key is that account's, in base64.
	Account, Key string
}

// StartAzurite starts an emulator without containers.
func StartAzurite(tb TB) *Azurite {
	tb.Helper()
	port := Port(tb)
	a := &Azurite{Addr: Addr(port), Account: "tenure", Key: newAccountKey()}
	a.Process = Start(tb, Command{
		Program: Find(tb, "azurite-blob"),
		Args: []string{
			"--blobHost", "127.0.0.1", "--blobPort", strconv.Itoa(port), "--location", Dir(tb), "--silent",
			"--skipApiVersionCheck", "--disableTelemetry",
		},
		Env:   []string{"AZURITE_ACCOUNTS=" + a.Account + ":" + a.Key},
		Ready: Dial(a.Addr),
	})
	return a
}

// newAccountKey returns a key as long as those of the service.
func newAccountKey() string {
	var key [64]byte
	rand.Read(key[:]) // which never fails
	return base64.StdEncoding.EncodeToString(key[:])
}

// Endpoint returns the URL of the account's blob service at a host and port, its own or that of a proxy.
func (a *Azurite) Endpoint(addr string) string { return "http://" + addr + "/" + a.Account }
