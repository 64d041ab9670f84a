<?php
// Laravel's cache lock, and what else of its cache is a lock.

use Illuminate\Cache\RedisStore;
use Illuminate\Contracts\Cache\LockTimeoutException;
use Illuminate\Redis\RedisManager;

final class Laravel extends Library
{
    private RedisStore $store;

    public function __construct(string $client, array $options)
    {
        $this->store = new RedisStore(laravelRedis($client, $options), 'laravel', 'default');
    }

    public function take(string $key, string $token, int $seconds): bool
    {
        return $this->store->lock($key, $seconds, $token)->get();
    }

    public function release(string $key, string $token): bool
    {
        return $this->store->restoreLock($key, $token)->release();
    }

    public function remaining(string $key): int
    {
        return $this->store->connection()->pttl($this->store->getPrefix() . $key);
    }

    public function wait(string $key, string $token, int $seconds, float $end): void
    {
        $lock = $this->store->lock($key, $seconds, $token)->betweenBlockedAttemptsSleepFor(PAUSE / 1000);
        $lock->block((int) ($end - microtime(true)));
    }

    public function more(string $check): void
    {
        $key = key_("laravel $check");
        switch ($check) {
            case 'take':
                $this->withoutEnd($key);
                $this->add("$key add");
                break;
            case 'contend':
                $this->timeout($key);
                break;
            case 'release':
                $this->forced($key);
                $this->callback("$key callback");
                break;
        }
    }

    /** A lock of 0 seconds is a SETNX. */
    private function withoutEnd(string $key): void
    {
        must($this->take($key, 'mine', 0), 'a lock without end was refused');
        must(!$this->take($key, 'theirs', 0), 'a lock without end was granted twice');
        must(!$this->release($key, 'theirs'), 'the release by another of a lock without end succeeded');
        must($this->release($key, 'mine'), 'the release of a lock without end did not succeed');
    }

    /** Cache::add, of which the scheduler makes its mutexes, takes by script. */
    private function add(string $key): void
    {
        must($this->store->add($key, 'mine', LONG), 'add was refused');
        must(!$this->store->add($key, 'theirs', LONG), 'add succeeded twice');
        must($this->store->get($key) === 'mine', 'get does not answer what was added');
        must($this->store->forget($key), 'forget did not succeed');
        must($this->store->add($key, 'theirs', LONG), 'add was refused after forget');
    }

    private function timeout(string $key): void
    {
        must($this->take($key, 'mine', LONG), 'the lock was refused');
        try {
            $this->store->lock($key, LONG)->block(1);
        } catch (LockTimeoutException $e) {
            return;
        }
        throw new RuntimeException('block got what another holds');
    }

    private function forced(string $key): void
    {
        must($this->take($key, 'mine', LONG), 'the lock was refused');
        $this->store->lock($key, LONG)->forceRelease();
        must($this->take($key, 'theirs', LONG), 'the lock was refused after forceRelease');
    }

    private function callback(string $key): void
    {
        $inside = fn () => $this->store->lock($key, LONG)->get() ? 'granted twice' : 'held';
        must($this->store->lock($key, LONG)->get($inside) === 'held', 'the lock was not held within get');
        must($this->take($key, 'theirs', LONG), 'the lock was refused after get had released it');
    }
}

function laravelRedis(string $client, array $options): RedisManager
{
    return new RedisManager(null, $client, [
        'options' => [],
        'default' => ['host' => REDLOCKD_HOST, 'port' => REDLOCKD_PORT, 'timeout' => 10, 'read_timeout' => 10] + $options,
    ]);
}
