<?php
// Real lock libraries of PHP against the server at $REDLOCKD_HOST:$REDLOCKD_PORT. One line of JSON for each on stdout.

foreach (['REDLOCKD_HOST', 'REDLOCKD_PORT'] as $name) {
    if (getenv($name) === false) {
        fwrite(STDERR, "REDLOCKD_HOST and REDLOCKD_PORT say where the server is\n");
        exit(1);
    }
    define($name, getenv($name));
}

require_once 'Predis/autoload.php';
require_once 'Illuminate/Cache/autoload.php';
require_once 'Symfony/Component/Lock/autoload.php';
require_once __DIR__ . '/checks.php';
require_once __DIR__ . '/classic.php';
require_once __DIR__ . '/laravel.php';
require_once __DIR__ . '/session.php';
require_once __DIR__ . '/refused.php';

/** The version of a Debian package, as its authors know it. */
function debian(string $package): string
{
    $version = (string) shell_exec('dpkg-query -W -f \'${Version}\' ' . escapeshellarg($package));
    return preg_replace('/[+-].*/', '', $version) ?: 'unknown';
}

$laravel = debian('php-illuminate-cache');
report('phpredis', phpversion('redis'), 'eval and evalSha', lockChecks(fn () => new PhpRedis()));
report('phpredis', phpversion('redis'), 'session locking', sessionChecks());
report('Predis', Predis\Client::VERSION, 'ScriptCommand', lockChecks(fn () => new Predis()));
report('Laravel cache lock', $laravel, 'phpredis', lockChecks(fn () => new Laravel('phpredis', [])));
report('Laravel cache lock', $laravel, 'phpredis, igbinary', lockChecks(
    fn () => new Laravel('phpredis', ['serializer' => Redis::SERIALIZER_IGBINARY])
));
report('Laravel cache lock', $laravel, 'Predis', lockChecks(fn () => new Laravel('predis', [])));
report('Laravel funnel', $laravel, 'Predis', refusal(fn () => laravelFunnel()), 'one script picks one of several keys by MGET');
report('Symfony Lock RedisStore', debian('php-symfony-lock'), 'phpredis', refusal(fn () => symfonyLock()), 'sorted sets');
