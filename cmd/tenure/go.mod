module github.com/tenure-go/tenure/cmd/tenure

go 1.26

require github.com/tenure-go/tenure v0.0.0

replace github.com/tenure-go/tenure => ../..
