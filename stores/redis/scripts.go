package redis

import (
	"crypto/sha1"
	_ "embed" // for the scripts
	"encoding/hex"
)

// script is what a server carries out as one step.
type script struct {
	source string
	digest string // by which servers that know it call it
}

var (
	//go:embed load.lua
	loadSource string
	//go:embed swap.lua
	swapSource string
	//go:embed delete.lua
	deleteSource string
	//go:embed raise.lua
	raiseSource string

	loadScript   = newScript(loadSource)
	swapScript   = newScript(swapSource)
	deleteScript = newScript(deleteSource)
	raiseScript  = newScript(raiseSource)
)

func newScript(source string) *script {
	sum := sha1.Sum([]byte(source)) // a name, chosen by the server's protocol; nothing is secured by it
	return &script{source, hex.EncodeToString(sum[:])}
}
