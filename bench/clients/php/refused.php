<?php
// What cannot work, and has to say so.

use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore as SymfonyRedisStore;

function laravelFunnel(): void
{
    // Over phpredis, Laravel takes the server's error for a full house, and waits.
    laravelRedis('predis', [])->connection('default')->funnel(key_('funnel'))->limit(2)->releaseAfter(LONG)->then(fn () => true);
}

function symfonyLock(): void
{
    (new LockFactory(new SymfonyRedisStore(phpredis())))->createLock(key_('symfony'), LONG)->acquire();
}
