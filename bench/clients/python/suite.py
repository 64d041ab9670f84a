"""What each library is put through, whatever it looks like.

A library is a class whose instances are one client's handle of one lock:

    Handle(name, ttl)   nothing is sent yet; ttl in seconds
    take() -> bool      tries once; False when somebody else holds it
    release()           raises Refused when the lock is not (or no longer) this handle's, unless silent_release
    extend(ttl)         from now on it lives for ttl; only if can_extend
    key                 under which it stands
"""

import json
import os
import random
import socket
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

HOST, PORT = os.environ["REDLOCKD_HOST"], int(os.environ["REDLOCKD_PORT"])

LONG = 30.0  # longer than any pause of a busy machine: a lock of a check that must not end meanwhile
SHORT = 1.0  # of one that is left to its end
EARLY = 0.95  # of SHORT: rounding, and the millisecond at which a client began to count
PATIENCE = 30.0  # for what must happen at last
WORKERS, TIMES = 20, 3


class Refused(Exception):
    """The library says that the lock is not ours."""


def ask(*args):
    """One command over a socket of its own, without any library; the first line of the reply."""
    command = b"*%d\r\n" % len(args)
    for arg in args:
        data = str(arg).encode()
        command += b"$%d\r\n%s\r\n" % (len(data), data)
    with socket.create_connection((HOST, PORT), timeout=PATIENCE) as s:
        s.sendall(command)
        return s.makefile("rb").readline().decode().strip()


def expect(right, text):
    if not right:
        raise AssertionError(text)


def until_taken(handle):
    """Waits for the lock."""
    deadline = time.monotonic() + PATIENCE
    while not handle.take():
        expect(time.monotonic() < deadline, f"not to be had within {PATIENCE} s")
        time.sleep(random.uniform(0.005, 0.03))


def take(Handle, name):
    a = Handle(name, LONG)
    expect(a.take(), "a free lock was refused")
    left = int(ask("PTTL", a.key).lstrip(":"))
    expect(0 < left <= LONG * 1000, f"PTTL of {a.key} is {left}")


def contend(Handle, name):
    a, b = Handle(name, LONG), Handle(name, LONG)
    expect(a.take(), "a free lock was refused")
    expect(not b.take(), "two hold it")


def release(Handle, name):
    a, b = Handle(name, LONG), Handle(name, LONG)
    expect(a.take(), "a free lock was refused")
    a.release()
    expect(b.take(), "it is not free after its release")
    b.release()
    expect(ask("EXISTS", b.key) == ":0", "the key is there after its release")


def release_by_another(Handle, name):
    """Who has lost the lock by its expiry releases it, when somebody else holds it."""
    a, b, c = Handle(name, SHORT), Handle(name, LONG), Handle(name, LONG)
    expect(a.take(), "a free lock was refused")
    until_taken(b)
    try:
        a.release()
        expect(Handle.silent_release, "the release of another's lock was not refused")
    except Refused:
        pass
    expect(not c.take(), "the release of another's lock was carried out")
    b.release()


def extend(Handle, name):
    a, b = Handle(name, 5.0), Handle(name, LONG)
    expect(a.take(), "a free lock was refused")
    a.extend(LONG)
    left = int(ask("PTTL", a.key).lstrip(":"))
    expect(left > 10_000, f"PTTL is {left} after an extension to {LONG} s")
    expect(not b.take(), "two hold it")
    a.release()


def expiry(Handle, name):
    a, b = Handle(name, SHORT), Handle(name, LONG)
    began = time.monotonic()
    expect(a.take(), "a free lock was refused")
    until_taken(b)
    lived = time.monotonic() - began
    expect(lived > EARLY * SHORT, f"a lock of {SHORT} s ended after {lived:.3f} s")


def counter(Handle, name):
    """Without the lock, reads and writes of the workers would cross, and counts be lost."""
    count = 0

    def work():
        nonlocal count
        handle = Handle(name, LONG)
        for _ in range(TIMES):
            until_taken(handle)
            seen = count
            time.sleep(0.002)
            count = seen + 1
            handle.release()

    with ThreadPoolExecutor(WORKERS) as workers:
        for done in [workers.submit(work) for _ in range(WORKERS)]:
            done.result()
    expect(count == WORKERS * TIMES, f"{WORKERS * TIMES - count} of {WORKERS * TIMES} counts were lost")


CHECKS = {
    "take": take,
    "contend": contend,
    "release": release,
    "release by another": release_by_another,
    "extend": extend,
    "expiry": expiry,
    "counter": counter,
}


def outcome(check, *args):
    try:
        check(*args)
        return "ok"
    except Exception as e:
        traceback.print_exc(file=sys.stderr)
        return f"{type(e).__name__}: {e}"


def report(library, version, how, checks, note=""):
    print(json.dumps({
        "language": "Python", "library": library, "version": version, "how": how, "checks": checks, "note": note,
    }), flush=True)


def run(library, version, how, Handle, note=""):
    """All checks at once, on keys of their own."""
    prefix = f"{library}:{random.randrange(1 << 48):x}"
    with ThreadPoolExecutor(len(CHECKS)) as at_once:
        running = {
            name: at_once.submit(outcome, check, Handle, f"{prefix}:{name.replace(' ', '-')}")
            for name, check in CHECKS.items() if name != "extend" or Handle.can_extend
        }
        checks = {name: running[name].result() if name in running else "-" for name in CHECKS}
    report(library, version, how, checks, note)


def run_refused(library, version, how, attempt, needs):
    """attempt must raise an error of the server that names one of the words."""

    def check():
        words = needs.split(", ")
        try:
            attempt(f"{library}:{random.randrange(1 << 48):x}")
        except Exception as e:
            expect(any(word.lower() in str(e).lower() for word in words), f"the error names none of {words}: {e}")
        else:
            raise AssertionError("it was not refused")

    report(library, version, how, {"refused": outcome(check)}, needs)


class Loop:
    """A thread with an event loop, for libraries of asyncio: their handles are used from ordinary threads."""

    def __init__(self):
        import asyncio
        self.asyncio, self.loop = asyncio, asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def __call__(self, coroutine):
        return self.asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(PATIENCE)
