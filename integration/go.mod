module github.com/tenure-go/tenure/integration

go 1.26.0

require (
	github.com/go-sql-driver/mysql v1.10.1
	github.com/jackc/pgx/v5 v5.12.0
	github.com/nats-io/nats.go v1.55.0
	github.com/tenure-go/tenure v0.0.0
	github.com/tenure-go/tenure/stores/azblob v0.0.0
	github.com/tenure-go/tenure/stores/memcached v0.0.0
	github.com/tenure-go/tenure/stores/natskv v0.0.0
	github.com/tenure-go/tenure/stores/postgres v0.0.0
	github.com/tenure-go/tenure/stores/redis v0.0.0
	github.com/tenure-go/tenure/stores/s3 v0.0.0
	modernc.org/sqlite v1.61.1
)

require github.com/anishathalye/porcupine v1.3.1 // indirect

replace (
	github.com/tenure-go/tenure => ../
	github.com/tenure-go/tenure/stores/azblob => ../stores/azblob
	github.com/tenure-go/tenure/stores/memcached => ../stores/memcached
	github.com/tenure-go/tenure/stores/natskv => ../stores/natskv
	github.com/tenure-go/tenure/stores/postgres => ../stores/postgres
	github.com/tenure-go/tenure/stores/redis => ../stores/redis
	github.com/tenure-go/tenure/stores/s3 => ../stores/s3
)
