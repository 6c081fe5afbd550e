module github.com/tenure-go/tenure/cmd/tenure

go 1.26.0

require (
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	github.com/tenure-go/tenure v0.0.0
	golang.org/x/sys v0.47.0
	golang.org/x/term v0.45.0
)

require github.com/inconshreveable/mousetrap v1.1.0 // indirect

replace github.com/tenure-go/tenure => ../..
