module github.com/tenure-go/tenure/integration

go 1.26.0

require github.com/tenure-go/tenure v0.0.0

replace (
	github.com/tenure-go/tenure => ../
	github.com/tenure-go/tenure/stores/azblob => ../stores/azblob
	github.com/tenure-go/tenure/stores/memcached => ../stores/memcached
	github.com/tenure-go/tenure/stores/natskv => ../stores/natskv
	github.com/tenure-go/tenure/stores/postgres => ../stores/postgres
	github.com/tenure-go/tenure/stores/redis => ../stores/redis
	github.com/tenure-go/tenure/stores/s3 => ../stores/s3
)
