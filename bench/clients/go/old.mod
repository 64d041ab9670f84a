// With the last redislock that takes one key at a time: go build -modfile old.mod -tags old
module clients

go 1.26.0

require (
	github.com/bsm/redislock v0.9.4
	github.com/gomodule/redigo v1.9.3
	github.com/redis/go-redis/v9 v9.23.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)
