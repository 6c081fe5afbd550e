package testserver

import "strconv"

// Azurite is a running emulator of Azure Blob Storage, whose writes survive an orderly restart.
type Azurite struct {
	*Process
	// Addr is its host and port.
	Addr string
	// Account and Key are those that every Azurite has; the key is public.
	Account, Key string
}

// StartAzurite starts an emulator without containers.
func StartAzurite(tb TB) *Azurite {
	tb.Helper()
	port := Port(tb)
	a := &Azurite{
		Addr: Addr(port), Account: "devstoreaccount1",
		Key: "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
	}
	a.Process = Start(tb, Command{
		Program: Find(tb, "azurite-blob"),
		Args: []string{
			"--blobHost", "127.0.0.1", "--blobPort", strconv.Itoa(port), "--location", Dir(tb), "--silent",
			"--skipApiVersionCheck", "--disableTelemetry",
		},
		Ready: Dial(a.Addr),
	})
	return a
}

// Endpoint returns the URL of the account's blob service at a host and port, its own or that of a proxy.
func (a *Azurite) Endpoint(addr string) string { return "http://" + addr + "/" + a.Account }
