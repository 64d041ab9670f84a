"""The libraries of one list of requirements: main.py newest"""

import logging
import sys
from importlib.metadata import version

import suite
from suite import HOST, PORT, LONG, Refused, run, run_refused

URL = f"redis://{HOST}:{PORT}/0"


def redis_py(how, **options):
    """redis.Redis().lock()"""
    import redis
    client = redis.Redis(host=HOST, port=PORT, **options)
    run("redis-py", version("redis"), how, handle_of(lambda name, ttl: client.lock(name, timeout=ttl)))


def handle_of(make, prefix=""):
    """A Handle over something that makes redis-py's Lock."""
    from redis.exceptions import LockNotOwnedError

    class Handle:
        can_extend, silent_release = True, False

        def __init__(self, name, ttl):
            self.lock, self.key = make(name, ttl), prefix + name

        def take(self):
            return self.lock.acquire(blocking=False)

        def release(self):
            try:
                self.lock.release()
            except LockNotOwnedError as e:
                raise Refused from e

        def extend(self, ttl):
            self.lock.extend(ttl, replace_ttl=True)
            self.lock.reacquire()  # the ttl that it was made with
            if not self.lock.owned() or not self.lock.locked():
                raise AssertionError("not owned after reacquire()")
            self.lock.extend(ttl)  # is added to what remains

    return Handle


def redis_py_asyncio(how, **options):
    """redis.asyncio.Redis().lock()"""
    import redis.asyncio
    from redis.exceptions import LockNotOwnedError
    loop = suite.Loop()

    async def connect():
        return redis.asyncio.Redis(host=HOST, port=PORT, **options)

    client = loop(connect())

    class Handle:
        can_extend, silent_release = True, False

        def __init__(self, name, ttl):
            # Handles are made in threads of their own, and each coroutine is a context of its own.
            self.lock, self.key = client.lock(name, timeout=ttl, thread_local=False), name

        def take(self):
            return loop(self.lock.acquire(blocking=False))

        def release(self):
            try:
                loop(self.lock.release())
            except LockNotOwnedError as e:
                raise Refused from e

        def extend(self, ttl):
            loop(self.lock.extend(ttl, replace_ttl=True))

    run("redis-py", version("redis"), how, Handle)
    loop(client.close())


def redlock_py():
    from redlock import Redlock
    # No pauses of its own; 0 would mean its default.
    manager = Redlock([{"host": HOST, "port": PORT}], retry_count=1, retry_delay=0.001)

    class Handle:
        can_extend, silent_release = False, True

        def __init__(self, name, ttl):
            self.key, self.ttl = name, int(ttl * 1000)

        def take(self):
            self.lock = manager.lock(self.key, self.ttl)
            return bool(self.lock)

        def release(self):
            manager.unlock(self.lock)

    run("redlock-py", version("redlock-py"), "redis-py 8", Handle)


def pottery():
    import redis
    from pottery import Redlock, ReleaseUnlockedLock
    client = redis.Redis(host=HOST, port=PORT)

    class Handle:
        can_extend, silent_release = True, False

        def __init__(self, name, ttl):
            self.lock = Redlock(key=name, masters={client}, auto_release_time=ttl, raise_on_redis_errors=True)
            self.key = self.lock.key

        def take(self):
            return self.lock.acquire(blocking=False)

        def release(self):
            try:
                self.lock.release()
            except ReleaseUnlockedLock as e:
                raise Refused from e

        def extend(self, ttl):
            if not self.lock.locked():
                raise AssertionError("not locked()")
            self.lock.auto_release_time = ttl
            self.lock.extend()

    run("pottery", version("pottery"), "Redlock, redis-py 8", Handle)


def aioredlock():
    logging.getLogger("aioredlock").setLevel(logging.CRITICAL)  # it logs each lock that is held
    from aioredlock import Aioredlock, LockError
    from aioredlock.errors import LockAcquiringError
    loop = suite.Loop()

    async def connect():
        return Aioredlock([(HOST, PORT)], retry_count=1)

    manager = loop(connect())

    class Handle:
        can_extend, silent_release = True, False

        def __init__(self, name, ttl):
            self.key, self.ttl = name, ttl

        def take(self):
            try:
                self.lock = loop(manager.lock(self.key, lock_timeout=self.ttl))
                return True
            except LockAcquiringError:  # any other LockError is none of a lock that is held
                return False

        def release(self):
            try:
                loop(manager.unlock(self.lock))
            except LockError as e:
                raise Refused from e

        def extend(self, ttl):
            loop(manager.extend(self.lock, ttl))

    run("aioredlock", version("aioredlock"), "aioredis 1.3, taken by script", Handle)
    loop(manager.destroy())


def django_redis():
    from django.conf import settings
    settings.configure(CACHES={"default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": URL}})
    from django.core.cache import cache
    run("django-redis", version("django-redis"), "cache.lock()",
        handle_of(lambda name, ttl: cache.lock(name, timeout=ttl), prefix=":1:"))


def redbeat():
    from celery import Celery
    from redbeat.schedulers import LUA_EXTEND_TO_SCRIPT, RedBeatConfig, get_redis
    app = Celery("clients", broker="memory://")
    app.conf.redbeat_redis_url = URL
    app.redbeat_conf = RedBeatConfig(app)
    client = get_redis(app)

    def make(name, ttl):  # as its acquire_distributed_beat_lock does, which cannot be given up
        lock = client.lock(name, timeout=ttl)
        lock.lua_extend = client.register_script(LUA_EXTEND_TO_SCRIPT)
        return lock

    class Handle(handle_of(make)):
        def extend(self, ttl):
            self.lock.extend(int(ttl))

    run("celery-redbeat", version("celery-redbeat"), "its client and its extend script", Handle)


def python_redis_lock():
    import redis
    import redis_lock
    client = redis.Redis(host=HOST, port=PORT)

    def attempt(name):
        holder = redis_lock.Lock(client, name, expire=int(LONG))
        if not holder.acquire(blocking=False):
            raise AssertionError("a free lock was refused")
        redis_lock.Lock(client, name, expire=int(LONG)).acquire(timeout=1)

    run_refused("python-redis-lock", version("python-redis-lock"), "", attempt, "BLPOP, lists")


def newest():
    redis_py("Lock, RESP3")
    redis_py("Lock, RESP2", protocol=2)
    redis_py_asyncio("asyncio Lock, RESP3")
    redis_py_asyncio("asyncio Lock, RESP2", protocol=2)
    redlock_py()
    pottery()
    django_redis()
    redbeat()
    python_redis_lock()


def redis5():
    redis_py("Lock, RESP2")
    redis_py("Lock, RESP3", protocol=3)
    redis_py_asyncio("asyncio Lock, RESP3", protocol=3)


def redis4():
    redis_py("Lock")
    redis_py_asyncio("asyncio Lock")


{"newest": newest, "redis5": redis5, "redis4": redis4, "aioredlock": aioredlock}[sys.argv[1]]()
