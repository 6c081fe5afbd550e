module github.com/tenure-go/tenure

go 1.25
