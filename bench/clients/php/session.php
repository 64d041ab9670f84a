<?php
// phpredis as PHP's session handler, with its locks: SET NX PX, GET before it writes, and the compare-and-delete script
// when the session is closed. A process has one session, so each taker is a child.

/** Opens the session; false: another has it. */
function openSession(string $id, int $expire, float $patience): bool
{
    $settings = [
        'session.save_handler' => 'redis',
        'session.save_path' => 'tcp://' . REDLOCKD_HOST . ':' . REDLOCKD_PORT . '?timeout=10&read_timeout=10',
        'session.use_cookies' => '0',
        'session.use_only_cookies' => '0',
        'session.cache_limiter' => '',
        'redis.session.locking_enabled' => '1',
        'redis.session.lock_expire' => (string) $expire,
        'redis.session.lock_wait_time' => (string) PAUSE,
        'redis.session.lock_retries' => (string) ($patience * 1000000 / PAUSE),
    ];
    foreach ($settings as $name => $value) {
        must(ini_set($name, $value) !== false, "$name cannot be set");
    }
    session_id($id);
    error_clear_last();
    if (@session_start() && error_get_last() === null) {
        return true;
    }
    // Until 6.0 a session whose lock is refused is opened with a notice, and cannot be written.
    session_abort();
    return false;
}

function sessionChecks(): array
{
    $id = fn () => bin2hex(random_bytes(16));
    return [
        'take' => outcome(fn () => sessionTake($id())),
        'contend' => outcome(fn () => sessionContend($id())),
        'release' => outcome(fn () => sessionRelease($id())),
        'release by another' => '-',
        'extend' => '-',
        'expiry' => outcome(fn () => sessionExpiry($id())),
        'counter' => outcome(fn () => sessionCounter($id())),
    ];
}

function succeed(callable $work): void
{
    must(ended(child($work)) === 0, 'failed, see stderr');
}

function sessionLock(string $id): string
{
    return "PHPREDIS_SESSION:{$id}_LOCK";
}

/** A child that has the session, until it is told to go on: $go(true) to close it, $go(false) to die with it. */
function holder(string $id, int $expire): callable
{
    [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $pid = child(function () use ($id, $expire, $theirs) {
        must(openSession($id, $expire, 0), 'the session was refused');
        fwrite($theirs, "held\n");
        must(fgets($theirs) === "close\n", 'not told to close');
        must(session_write_close(), 'the session could not be written');
    });
    fclose($theirs);
    $held = fgets($ours) === "held\n";
    $go = function (bool $close) use ($pid, $ours): int {
        $close ? fwrite($ours, "close\n") : posix_kill($pid, SIGKILL);
        return ended($pid);
    };
    if (!$held) {
        $go(false);
        throw new RuntimeException('the session was refused');
    }
    return $go;
}

function sessionTake(string $id): void
{
    $go = holder($id, LONG);
    $remaining = phpredis()->pttl(sessionLock($id));
    must($go(true) === 0, 'the session could not be closed');
    must($remaining > 0 && $remaining <= LONG * 1000, "PTTL of the session's lock answers $remaining");
}

function sessionContend(string $id): void
{
    $go = holder($id, LONG);
    try {
        succeed(fn () => must(!openSession($id, LONG, 0.1), 'the session was granted twice'));
    } finally {
        $go(true);
    }
}

function sessionRelease(string $id): void
{
    succeed(function () use ($id) {
        must(openSession($id, LONG, 0), 'the session was refused');
        $_SESSION['kept'] = 'yes';
        must(session_write_close(), 'the session could not be written');
    });
    must(phpredis()->exists(sessionLock($id)) === 0, 'the lock is there after the session was closed');
    succeed(function () use ($id) {
        must(openSession($id, LONG, 0), 'the session was refused after it had been closed');
        must(($_SESSION['kept'] ?? '') === 'yes', 'the session has lost what was written');
    });
}

function sessionExpiry(string $id): void
{
    $sent = microtime(true);
    holder($id, SHORT)(false);
    succeed(fn () => must(openSession($id, LONG, GONE), 'the session is held by one who died'));
    must(microtime(true) - $sent >= SHORT, 'it was free before its ttl was over');
}

function sessionCounter(string $id): void
{
    counted(function (int $i, callable $increment) use ($id) {
        for ($n = 0; $n < INCREMENTS; $n++) {
            must(openSession($id, LONG, COUNTED), 'the session was refused');
            $increment();
            $_SESSION['count'] = ($_SESSION['count'] ?? 0) + 1;
            must(session_write_close(), 'the session could not be written');
        }
    });
    succeed(function () use ($id) {
        must(openSession($id, LONG, 0), 'the session was refused');
        must($_SESSION['count'] === WORKERS * INCREMENTS, "the session counted {$_SESSION['count']}");
    });
}
