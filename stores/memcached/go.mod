module github.com/tenure-go/tenure/stores/memcached

go 1.25.0

require (
	github.com/bradfitz/gomemcache v0.0.0-20260422231931-4d751bb6e37c
	github.com/tenure-go/tenure v0.0.0
)

replace github.com/tenure-go/tenure => ../..
