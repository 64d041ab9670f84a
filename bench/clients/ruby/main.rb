# Real lock libraries of Ruby against the server at $REDLOCKD_HOST:$REDLOCKD_PORT. One line of JSON for each on stdout.
# Debian has the client, redis-rb, with which applications send SET NX PX and scripts of their own: EVALSHA, and after
# NOSCRIPT EVAL. Lock libraries are gems, which are among the recorded ones.

require "digest"
require "json"
require "redis"
require "securerandom"

LONG = 30_000   # milliseconds: a ttl that no pause of the machine outlives within a check
LONGER = 90_000 # milliseconds: what a lock of LONG is extended to
SHORT = 1_500   # milliseconds: the ttl of a lock that is left to expire
GONE = 20       # seconds: until then a lock of SHORT is surely gone, on the slowest machine
COUNTED = 60    # seconds for all of the counter's increments together
PAUSE = 0.01    # seconds between two tries of one taker
WORKERS = 20
INCREMENTS = 3

class Failure < StandardError; end

def must(so, text)
  raise Failure, text unless so
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

# One connection, and locks by it.
class Locks
  RELEASE = <<~LUA
    if redis.call("get", KEYS[1]) == ARGV[1] then
      return redis.call("del", KEYS[1])
    else
      return 0
    end
  LUA

  EXTEND = <<~LUA
    if redis.call("get", KEYS[1]) == ARGV[1] then
      return redis.call("pexpire", KEYS[1], ARGV[2])
    else
      return 0
    end
  LUA

  def initialize
    @redis = Redis.new(host: ENV.fetch("REDLOCKD_HOST"), port: ENV.fetch("REDLOCKD_PORT"), timeout: 10, reconnect_attempts: 0)
  end

  def take(key, token, ttl)
    @redis.set(key, token, nx: true, px: ttl)
  end

  def wait(key, token, ttl, limit)
    deadline = now + limit
    until take(key, token, ttl)
      must now < deadline, "waited too long"
      sleep PAUSE
    end
  end

  def release(key, token)
    script(RELEASE, [key], [token])
  end

  def extend_lock(key, token, ttl)
    script(EXTEND, [key], [token, ttl])
  end

  def value(key)
    @redis.get(key)
  end

  def remaining(key)
    @redis.pttl(key)
  end

  private

  def script(text, keys, argv)
    @redis.evalsha(Digest::SHA1.hexdigest(text), keys: keys, argv: argv)
  rescue Redis::CommandError => e
    raise unless e.message.start_with?("NOSCRIPT")

    @redis.eval(text, keys: keys, argv: argv)
  end
end

# The checks. Each has its own connection and a key that nobody else has.
class Checks
  def take(locks, key)
    must locks.take(key, "mine", LONG) == true, "the lock was refused"
    must locks.value(key) == "mine", "GET does not answer the token"
    must locks.remaining(key).between?(1, LONG), "PTTL answers #{locks.remaining(key)}"
  end

  def contend(locks, key)
    must locks.take(key, "mine", LONG), "the lock was refused"
    must locks.take(key, "theirs", LONG) == false, "the lock was granted twice"
  end

  def release(locks, key)
    must locks.take(key, "mine", LONG), "the lock was refused"
    must locks.release(key, "mine") == 1, "the release did not answer 1"
    must locks.release(key, "mine") == 0, "a second release did not answer 0"
    must locks.take(key, "theirs", LONG), "the lock was refused after its release"
  end

  def release_by_another(locks, key)
    must locks.take(key, "mine", LONG), "the lock was refused"
    must locks.release(key, "theirs") == 0, "the release by another did not answer 0"
    must !locks.take(key, "theirs", LONG), "the release by another freed the lock"
  end

  def extend(locks, key)
    must locks.take(key, "mine", LONG), "the lock was refused"
    must locks.extend_lock(key, "theirs", LONGER) == 0, "the extend by another did not answer 0"
    must locks.remaining(key) <= LONG, "the extend by another did something"
    must locks.extend_lock(key, "mine", LONGER) == 1, "the extend did not answer 1"
    must locks.remaining(key) > LONG, "the lock does not live longer"
  end

  def expiry(locks, key)
    sent = now
    must locks.take(key, "mine", SHORT), "the lock was refused"
    locks.wait(key, "theirs", LONG, GONE)
    must now - sent >= SHORT / 1000.0, "it was free before its ttl was over"
    must locks.release(key, "mine") == 0, "its former holder could release it"
  end

  # Threads: each reads, waits, writes; an increment is lost whenever two are inside at once.
  def counter(_, key)
    count = 0
    workers = Array.new(WORKERS) do |i|
      Thread.new do
        Thread.current.report_on_exception = false
        locks = Locks.new
        INCREMENTS.times do
          locks.wait(key, "worker #{i}", LONG, COUNTED)
          seen = count
          sleep 0.002
          count = seen + 1
          must locks.release(key, "worker #{i}") == 1, "the release did not answer 1"
        end
      end
    end
    workers.each(&:join)
    must count == WORKERS * INCREMENTS, "#{count} of #{WORKERS * INCREMENTS} increments"
  end
end

names = ["take", "contend", "release", "release by another", "extend", "expiry", "counter"]
results = names.to_h do |name|
  key = "ruby:#{name}:#{SecureRandom.hex(8)}"
  Checks.new.public_send(name.tr(" ", "_"), Locks.new, key)
  [name, "ok"]
rescue StandardError => e
  [name, "#{e.class}: #{e.message}"]
end
puts JSON.generate(language: "Ruby", library: "redis-rb", version: Redis::VERSION, how: "evalsha and eval", checks: results, note: "")
