#!/usr/bin/env bash
# Installs what is missing (redis-server, redis-tools, faketime for servers with wrong clocks, and nutcracker and etcd-server that
# redlockd is measured beside) and runs every test.
#
#   ./test.sh            formatting, vet, and all tests, with the race detector
#   ./test.sh clients    real lock libraries, unmodified, through redlockd (bench/clients): installs them, and skips a language
#                        whose toolchain is missing (with --require-all, that is a failure)
#   ./test.sh planted    only the bugs that are planted on purpose, and how many seeds of the simulator it took to find each
#   ./test.sh fuzz 1m    every fuzz target for a minute (its seeds and finds are among the tests anyway)
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '\n== %s\n' "$*"; }

install() {
  # Of faketime only the library is used, from where bench/servers looks for it.
  if command -v redis-server >/dev/null && command -v redis-cli >/dev/null && command -v redis-benchmark >/dev/null &&
    compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' >/dev/null &&
    PATH="$PATH:/usr/sbin" command -v nutcracker >/dev/null && command -v etcd >/dev/null; then
    return
  fi
  say "installing redis-server, redis-tools, faketime, nutcracker and etcd-server"
  local sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo"
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends \
    redis-server redis-tools faketime nutcracker etcd-server >/dev/null
}

if ! command -v go >/dev/null; then
  echo "test.sh: go is not installed; redlockd needs the version in go.mod" >&2
  exit 1
fi
install

if [ "${1:-}" = fuzz ]; then
  go list ./... | while read -r package; do
    for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
      say "$package $target"
      go test -run '^$' -fuzz "^$target\$" -fuzztime "${2:-10s}" "$package"
    done
  done
  exit
fi

# Each of these bugs must be found by the simulator; the table says how many seeds it took.
planted() { go test -tags planted -count=1 -timeout 15m -run Planted -v ./quorum/quorumtest/sim "$@"; }

if [ "${1:-}" = planted ]; then
  say "planted bugs"
  planted
  exit
fi

if [ "${1:-}" = clients ]; then
  say "real lock libraries"
  exec go run ./bench/clients "${@:2}"
fi

say "formatting, vet, go.mod"
unformatted=$(gofmt -l $(git ls-files '*.go' 2>/dev/null || find . -name '*.go'))
if [ -n "$unformatted" ]; then
  echo "gofmt would change: $unformatted" >&2
  exit 1
fi
go vet ./...
go vet -tags planted ./quorum/...
go mod tidy -diff

say "tests, with the race detector"
# Those over real processes by themselves: nodes and redlockd need the processors that the others would take.
go test -race -count=1 -timeout 15m $(go list ./... | grep -v -e /bench/real -e /quorumtest/sim)
go test -race -count=1 -timeout 15m ./bench/real

say "bench/peers, a module of its own: vet, and a short run beside every peer that is here"
(cd bench/peers && go vet ./... && go test -count=1 -timeout 5m -v ./... | grep -v '^=== RUN')

# The simulator has no goroutines that could race: without the detector ten times as many seeds fit in half a minute.
say "simulator"
go test -count=1 -timeout 15m -run Sim ./quorum/quorumtest/sim -seeds 400
say "planted bugs"
planted

say "all tests passed"
