// What every lock is put through, whatever library it comes from.
//
// A lock is an object with
//   take(keys, ttl)      one attempt: a handle, or null if it is held
//   acquire(keys, ttl)   waits, in the library's own way (optional: attempts in a loop)
//   release(handle)      true if the library says so, or has nothing to say
//   intrude(handle)      release with another's token; true if the library says that it worked
//   extend(handle, ttl)  (optional)
//   key(name)            what the library makes of a name (optional)
//   trouble()            what went wrong lately, where the library keeps it to itself (optional)

import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

const LONG = 20_000; // a ttl, in ms, that outlives any pause of a busy machine
const LONGER = 90_000;
const SHORT = 1_000; // a ttl to wait for
const PATIENCE = 30_000; // how long one check may take

const WORKERS = 20;
const ROUNDS = 4;

class Failure extends Error {}

function must(condition, otherwise) {
  if (!condition) throw new Failure(otherwise);
}

const all = { take, contend, release, 'release by another': intrude, extend, expiry, counter };

// Runs the checks one after the other. pttl tells what time a key has left.
export async function exercise(mine, other, pttl, count) {
  const results = {};
  for (const [name, check] of Object.entries(all)) {
    if (name === 'extend' && !mine.extend) {
      results[name] = '-';
    } else if (name !== 'take' && results.take !== 'ok') {
      results[name] = 'not tried: nothing can be taken'; // each of them begins with a take
    } else {
      results[name] = await outcome(() => check(scene(mine, other, pttl, count)), mine, other);
    }
  }
  return results;
}

// What is said of a library that does not even begin to work.
export function none(why) {
  return Object.fromEntries(Object.keys(all).map((name) => [name, why]));
}

// A library that cannot work has to say so: an error that is clear, not a wait that never ends.
export async function refusal(attempt) {
  return outcome(async () => {
    const error = await attempt().then(() => null, (e) => e);
    must(error, 'worked, though it was not expected to');
    must(/redlockd|script|unknown command/i.test(reason(error)), `not a clear error: ${reason(error)}`);
  });
}

// The keys of one check are its own. Of several keys the other wants new ones too, and only the last is disputed.
function scene(mine, other, pttl, count) {
  const name = `js:${randomBytes(6).toString('hex')}`;
  const last = `${name}:last`;
  const keys = (who) => [...Array(count - 1).keys()].map((i) => `${name}:${who}${i}`).concat(last);
  const real = mine.key ?? ((k) => k);
  return {
    mine, other, keys: keys('mine'), others: keys('other'),
    left: async () => Math.min(...await Promise.all(keys('mine').map((k) => pttl(real(k))))),
  };
}

async function outcome(check, ...locks) {
  const late = new AbortController();
  try {
    const patience = sleep(PATIENCE, null, { signal: late.signal });
    await Promise.race([check(), patience.then(() => must(false, `not done within ${PATIENCE / 1000} s`))]);
    return 'ok';
  } catch (error) {
    const trouble = locks.map((lock) => lock.trouble?.()).find(Boolean);
    return reason(error) + (trouble ? ` (${trouble})` : '');
  } finally {
    late.abort();
  }
}

export function reason(error) {
  const text = error instanceof Failure ? error.message : `${error?.name}: ${error?.message}`;
  const cause = error?.cause ?? error?.originalError;
  return (cause ? `${text} (${reason(cause)})` : text).replace(/\s+/g, ' ');
}

async function take({ mine, keys, left }) {
  const handle = await mine.take(keys, LONG);
  must(handle, 'a free lock is refused');
  const ms = await left();
  must(ms > LONG / 2 && ms < LONG * 1.1, `of ${LONG} ms, ${ms} are left`);
}

async function contend({ mine, other, keys, others, left }) {
  must(await mine.take(keys, LONG), 'a free lock is refused');
  must(!await other.take(others, LONG), 'two holders');
  must(await left() > LONG / 2, 'the lock is gone after a contender failed');
}

async function release({ mine, other, keys, others, left }) {
  const handle = await mine.take(keys, LONG);
  must(await mine.release(handle), 'the owner cannot release');
  must(await left() === -2, 'the lock is there after it was released');
  must(await other.take(others, LONG), 'a released lock cannot be taken');
}

async function intrude({ mine, other, keys, others, left }) {
  const handle = await mine.take(keys, LONG);
  const worked = await other.intrude(handle).catch(() => false); // libraries say no in either way
  must(!worked, 'released by another, says the library');
  must(await left() > LONG / 2, 'released by another');
  must(!await other.take(others, LONG), 'two holders');
  must(await mine.release(handle), 'the owner cannot release any more');
}

async function extend({ mine, other, keys, others, left }) {
  const handle = await mine.take(keys, LONG);
  const extended = await mine.extend(handle, LONGER);
  must(extended, 'the owner cannot extend');
  const ms = await left();
  must(ms > LONG * 1.5, `extended to ${LONGER} ms, ${ms} are left`);
  must(!await other.take(others, LONG), 'two holders');
  must(await mine.release(extended === true ? handle : extended), 'the owner cannot release after an extend');
}

async function expiry({ mine, other, keys, others }) {
  const began = performance.now();
  must(await mine.take(keys, SHORT), 'a free lock is refused');
  while (!await other.take(others, SHORT)) await sleep(20);
  const after = performance.now() - began;
  must(after > SHORT - 20, `a lock of ${SHORT} ms was taken over after ${Math.round(after)} ms`);
}

async function counter({ mine, other, keys }) {
  let count = 0;
  const worker = async (lock) => {
    for (let round = 0; round < ROUNDS; round++) {
      const handle = await wait(lock, keys);
      const read = count;
      await sleep(1);
      count = read + 1;
      must(await lock.release(handle), 'a holder cannot release');
    }
  };
  await Promise.all([...Array(WORKERS).keys()].map((i) => worker(i % 2 ? mine : other)));
  must(count === WORKERS * ROUNDS, `${WORKERS * ROUNDS - count} of ${WORKERS * ROUNDS} increments are lost`);
}

async function wait(lock, keys) {
  if (lock.acquire) return lock.acquire(keys, LONG);
  for (;;) {
    const handle = await lock.take(keys, LONG);
    if (handle) return handle;
    await sleep(2 + Math.random() * 18);
  }
}
