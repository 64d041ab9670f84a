<?php
// What every library is put through.

const LONG = 30;    // seconds: a ttl that no pause of the machine outlives within a check
const LONGER = 90;  // seconds: what a lock of LONG is extended to
const SHORT = 2;    // seconds: the ttl of a lock that is left to expire
const GONE = 20;    // seconds: until then a lock of SHORT is surely gone, on the slowest machine
const PAUSE = 10000; // microseconds between two tries of one taker
const WORKERS = 20;
const INCREMENTS = 3;
const COUNTED = 60; // seconds for all of the counter's increments together

/** A lock library. Each object has a connection of its own. */
abstract class Library
{
    /** Takes the lock, or is refused. */
    abstract public function take(string $key, string $token, int $seconds): bool;

    abstract public function release(string $key, string $token): bool;

    /** The remaining time in milliseconds. */
    abstract public function remaining(string $key): int;

    /** null: the library has no such thing. */
    public function extend(string $key, string $token, int $seconds): ?bool
    {
        return null;
    }

    /** Takes the lock, waiting for it. */
    public function wait(string $key, string $token, int $seconds, float $end): void
    {
        while (!$this->take($key, $token, $seconds)) {
            must(microtime(true) < $end, 'waited too long');
            usleep(PAUSE);
        }
    }

    /** What only this library has that belongs to a check. */
    public function more(string $check): void
    {
    }
}

function must(bool $so, string $text): void
{
    if (!$so) {
        throw new RuntimeException($text);
    }
}

/** A key that nobody else has. */
function key_(string $check): string
{
    return "php:$check:" . bin2hex(random_bytes(8));
}

function outcome(callable $check): string
{
    try {
        return $check() ?? 'ok';
    } catch (Throwable $e) {
        return get_class($e) . ': ' . $e->getMessage();
    }
}

function report(string $library, string $version, string $how, array $checks, string $note = ''): void
{
    $row = ['language' => 'PHP', 'library' => $library, 'version' => $version, 'how' => $how, 'checks' => $checks, 'note' => $note];
    // Not echo: after the first output no session could be started.
    fwrite(STDOUT, json_encode($row, JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE) . "\n");
}

/** All checks of a library; $make connects. */
function lockChecks(callable $make): array
{
    $checks = [
        'take' => 'checkTake', 'contend' => 'checkContend', 'release' => 'checkRelease', 'release by another' => 'checkAnother',
        'extend' => 'checkExtend', 'expiry' => 'checkExpiry',
    ];
    $results = [];
    foreach ($checks as $name => $check) {
        $results[$name] = outcome(function () use ($make, $check, $name) {
            $locks = $make();
            $result = $check($locks, key_($name));
            $locks->more($name);
            return $result;
        });
    }
    $results['counter'] = outcome(fn () => checkCounter($make));
    return $results;
}

function checkTake(Library $locks, string $key): void
{
    must($locks->take($key, 'mine', LONG), 'the lock was refused');
    $remaining = $locks->remaining($key);
    must($remaining > 0 && $remaining <= LONG * 1000, "PTTL answers $remaining");
}

function checkContend(Library $locks, string $key): void
{
    must($locks->take($key, 'mine', LONG), 'the lock was refused');
    must(!$locks->take($key, 'theirs', LONG), 'the lock was granted twice');
}

function checkRelease(Library $locks, string $key): void
{
    must($locks->take($key, 'mine', LONG), 'the lock was refused');
    must($locks->release($key, 'mine'), 'the release did not succeed');
    must(!$locks->release($key, 'mine'), 'a second release succeeded');
    must($locks->take($key, 'theirs', LONG), 'the lock was refused after its release');
}

function checkAnother(Library $locks, string $key): void
{
    must($locks->take($key, 'mine', LONG), 'the lock was refused');
    must(!$locks->release($key, 'theirs'), 'the release by another succeeded');
    must(!$locks->take($key, 'theirs', LONG), 'the release by another freed the lock');
}

function checkExtend(Library $locks, string $key): ?string
{
    must($locks->take($key, 'mine', LONG), 'the lock was refused');
    $extended = $locks->extend($key, 'mine', LONGER);
    if ($extended === null) {
        return '-';
    }
    must($extended, 'the extend did not succeed');
    must($locks->remaining($key) > LONG * 1000, 'the lock does not live longer');
    must(!$locks->extend($key, 'theirs', LONG), 'the extend by another succeeded');
    must($locks->remaining($key) > LONG * 1000, 'the extend by another did something');
    return null;
}

function checkExpiry(Library $locks, string $key): void
{
    $sent = microtime(true);
    must($locks->take($key, 'mine', SHORT), 'the lock was refused');
    $locks->wait($key, 'theirs', LONG, $sent + GONE);
    must(microtime(true) - $sent >= SHORT, 'it was free before its ttl was over');
    must(!$locks->release($key, 'mine'), 'its former holder could release it');
}

/** Processes: each reads, waits, writes; an increment is lost whenever two are inside at once. */
function checkCounter(callable $make): void
{
    $key = key_('counter');
    counted(function (int $i, callable $increment) use ($make, $key) {
        $locks = $make();
        for ($n = 0; $n < INCREMENTS; $n++) {
            $locks->wait($key, "worker $i", LONG, microtime(true) + COUNTED);
            $increment();
            must($locks->release($key, "worker $i"), 'the release did not succeed');
        }
    });
}

/** Runs the worker in many processes and looks whether the counter has all increments. */
function counted(callable $worker): void
{
    $count = tempnam(sys_get_temp_dir(), 'count');
    file_put_contents($count, '0');
    $increment = function () use ($count) {
        $seen = (int) file_get_contents($count);
        usleep(2000);
        file_put_contents($count, (string) ($seen + 1));
    };
    try {
        $children = array_map(fn ($i) => child(fn () => $worker($i, $increment)), range(1, WORKERS));
        $failed = array_filter(array_map('ended', $children));
        must(!$failed, count($failed) . ' workers failed');
        $seen = (int) file_get_contents($count);
        must($seen === WORKERS * INCREMENTS, "$seen of " . WORKERS * INCREMENTS . ' increments');
    } finally {
        unlink($count);
    }
}

/** Runs $work in a process of its own, whose exit code says whether it did it. */
function child(callable $work): int
{
    $pid = pcntl_fork();
    must($pid >= 0, 'fork failed');
    if ($pid > 0) {
        return $pid;
    }
    $result = outcome($work);
    if ($result !== 'ok') {
        fwrite(STDERR, "$result\n");
    }
    exit($result === 'ok' ? 0 : 1);
}

/** The exit code of a child. */
function ended(int $pid): int
{
    pcntl_waitpid($pid, $status);
    return pcntl_wifexited($status) ? pcntl_wexitstatus($status) : 255;
}

/** A library that is refused, not broken: $use ends with the server's error, which says what it does not do. */
function refusal(callable $use): array
{
    try {
        $use();
    } catch (Throwable $e) {
        for ($cause = $e; $cause !== null; $cause = $cause->getPrevious()) {
            if (preg_match('/\bERR redlockd /', $cause->getMessage())) {
                return ['refused' => 'ok'];
            }
        }
        return ['refused' => get_class($e) . ': ' . $e->getMessage()];
    }
    return ['refused' => 'it is not refused'];
}
