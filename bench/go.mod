module github.com/tenure-go/tenure/bench

go 1.26.0

require (
	github.com/bradfitz/gomemcache v0.0.0-20260422231931-4d751bb6e37c
	github.com/jackc/pgx/v5 v5.12.0
	github.com/nats-io/nats.go v1.55.0
	github.com/redis/go-redis/v9 v9.23.0
	github.com/tenure-go/tenure v0.0.0
	github.com/tenure-go/tenure/stores/memcached v0.0.0
	github.com/tenure-go/tenure/stores/natskv v0.0.0
	github.com/tenure-go/tenure/stores/postgres v0.0.0
	github.com/tenure-go/tenure/stores/redis v0.0.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/klauspost/compress v1.20.0 // indirect
	github.com/nats-io/nkeys v0.4.16 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/crypto v0.57.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
)

replace (
	github.com/tenure-go/tenure => ../
	github.com/tenure-go/tenure/stores/memcached => ../stores/memcached
	github.com/tenure-go/tenure/stores/natskv => ../stores/natskv
	github.com/tenure-go/tenure/stores/postgres => ../stores/postgres
	github.com/tenure-go/tenure/stores/redis => ../stores/redis
)
