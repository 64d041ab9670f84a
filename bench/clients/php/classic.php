<?php
// phpredis and Predis, with SET NX PX and the scripts that everybody writes.

const RELEASE = '
    if redis.call("GET", KEYS[1]) == ARGV[1] then
        return redis.call("DEL", KEYS[1])
    else
        return 0
    end
';

const EXTEND = '
    if redis.call("GET", KEYS[1]) == ARGV[1] then
        return redis.call("PEXPIRE", KEYS[1], ARGV[2])
    else
        return 0
    end
';

/** What php-lock/lock sends for a lock without end: a thousand years. */
const THOUSAND_YEARS = 31557600000000;

function phpredis(): Redis
{
    $redis = new Redis();
    $redis->connect(REDLOCKD_HOST, (int) REDLOCKD_PORT, 10.0, null, 0, 10.0);
    return $redis;
}

final class PhpRedis extends Library
{
    private Redis $redis;

    public function __construct()
    {
        $this->redis = phpredis();
    }

    public function take(string $key, string $token, int $seconds): bool
    {
        return $this->set($key, $token, $seconds * 1000);
    }

    private function set(string $key, string $token, int $milliseconds): bool
    {
        $this->redis->clearLastError();
        $reply = $this->redis->set($key, $token, ['NX', 'PX' => $milliseconds]);
        $this->noError();
        return $reply;
    }

    public function release(string $key, string $token): bool
    {
        $reply = $this->redis->eval(RELEASE, [$key, $token], 1);
        $this->noError();
        return $reply === 1;
    }

    public function extend(string $key, string $token, int $seconds): ?bool
    {
        $reply = $this->redis->evalSha(sha1(EXTEND), [$key, $token, $seconds * 1000], 1);
        if ($this->redis->getLastError() === 'NOSCRIPT No matching script. Please use EVAL.') {
            $this->redis->clearLastError();
            $reply = $this->redis->eval(EXTEND, [$key, $token, $seconds * 1000], 1);
        }
        $this->noError();
        return $reply === 1;
    }

    public function remaining(string $key): int
    {
        return $this->redis->pttl($key);
    }

    /** phpredis answers false for an error, too. */
    private function noError(): void
    {
        must($this->redis->getLastError() === null, (string) $this->redis->getLastError());
    }

    public function more(string $check): void
    {
        if ($check !== 'take') {
            return;
        }
        $key = key_('years');
        must($this->set($key, 'mine', THOUSAND_YEARS), 'a lock for a thousand years was refused');
        must($this->remaining($key) > LONG * 1000, 'a lock for a thousand years is a short one');
        must($this->release($key, 'mine'), 'the release did not succeed');
    }
}

/** Predis sends EVALSHA first, and EVAL when the answer begins with NOSCRIPT. */
final class PredisRelease extends Predis\Command\ScriptCommand
{
    public function getKeysCount()
    {
        return 1;
    }

    public function getScript()
    {
        return RELEASE;
    }
}

final class PredisExtend extends Predis\Command\ScriptCommand
{
    public function getKeysCount()
    {
        return 1;
    }

    public function getScript()
    {
        return EXTEND;
    }
}

final class Predis extends Library
{
    private Predis\Client $client;

    public function __construct()
    {
        $this->client = new Predis\Client(
            ['host' => REDLOCKD_HOST, 'port' => REDLOCKD_PORT, 'timeout' => 10, 'read_write_timeout' => 10]
        );
        $profile = $this->client->getProfile();
        $profile->defineCommand('lockrelease', PredisRelease::class);
        $profile->defineCommand('lockextend', PredisExtend::class);
    }

    public function take(string $key, string $token, int $seconds): bool
    {
        return (string) $this->client->set($key, $token, 'PX', $seconds * 1000, 'NX') === 'OK';
    }

    public function release(string $key, string $token): bool
    {
        return $this->client->lockrelease($key, $token) === 1;
    }

    public function extend(string $key, string $token, int $seconds): ?bool
    {
        return $this->client->lockextend($key, $token, $seconds * 1000) === 1;
    }

    public function remaining(string $key): int
    {
        return $this->client->pttl($key);
    }
}
