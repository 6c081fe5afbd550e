module github.com/tenure-go/tenure/cmd/tenure/internal/consoletest

go 1.26.0

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.22.1
	github.com/tenure-go/tenure v0.0.0
	github.com/tenure-go/tenure/cmd/tenure v0.0.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace (
	github.com/tenure-go/tenure => ../../../..
	github.com/tenure-go/tenure/cmd/tenure => ../..
	github.com/tenure-go/tenure/stores/azblob => ../../../../stores/azblob
	github.com/tenure-go/tenure/stores/etcd => ../../../../stores/etcd
	github.com/tenure-go/tenure/stores/memcached => ../../../../stores/memcached
	github.com/tenure-go/tenure/stores/natskv => ../../../../stores/natskv
	github.com/tenure-go/tenure/stores/postgres => ../../../../stores/postgres
	github.com/tenure-go/tenure/stores/redis => ../../../../stores/redis
	github.com/tenure-go/tenure/stores/s3 => ../../../../stores/s3
)
