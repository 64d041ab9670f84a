// The libraries that go their own ways: redis-semaphore, warlock, redlock-universal.

import { randomUUID } from 'node:crypto';
import { Mutex, Semaphore } from 'redis-semaphore';
import warlock from 'node-redis-warlock';
import { IoredisAdapter, LockManager, NodeRedisAdapter, SimpleLock } from 'redlock-universal';
import { ioredis, nodeRedis, nodeRedis3 } from './clients.mjs';

export function mutex(major) {
  const client = ioredis(major);
  const options = { refreshInterval: 0 }; // refreshes are asked for, so that no check waits for a timer
  const held = (name, ttl, identifier) => new Mutex(client, name, {
    ...options, lockTimeout: ttl, identifier, acquiredExternally: true,
  });
  return {
    key: (name) => `mutex:${name}`,
    async take([name], ttl) {
      const lock = new Mutex(client, name, { ...options, lockTimeout: ttl, acquireAttemptsLimit: 1 });
      return await lock.tryAcquire() ? Object.assign(lock, { name }) : null;
    },
    async acquire([name], ttl) { // every 10 ms
      const lock = new Mutex(client, name, { ...options, lockTimeout: ttl, acquireTimeout: ttl });
      await lock.acquire();
      return lock;
    },
    release: (lock) => lock.release().then(() => true),
    intrude: (lock) => held(lock.name, 1000, randomUUID()).release(), // says nothing either way
    async extend(lock, ttl) {
      const same = held(lock.name, ttl, lock.identifier);
      return await same.tryAcquire() && same;
    },
  };
}

export const semaphore = () => new Semaphore(ioredis(), `js:${randomUUID()}`, 2, { acquireAttemptsLimit: 1 }).acquire();

function warlocks(client) {
  const locks = warlock(client);
  const unlock = (name, id) => new Promise((resolve, reject) => {
    locks.unlock(name, id, (error, count) => (error ? reject(error) : resolve(count === 1)));
  });
  return {
    key: (name) => `${name}:lock`,
    take: ([name], ttl) => new Promise((resolve, reject) => {
      locks.lock(name, ttl, (error, free, id) => (error ? reject(error) : resolve(free ? { name, id } : null)));
    }),
    release: ({ name, id }) => unlock(name, id),
    intrude: ({ name }) => unlock(name, 'another'),
    extend: async ({ name, id }, ttl) => await locks.touch(name, id, ttl) === 'OK',
  };
}

export const warlockIoredis = () => warlocks(ioredis());
export const warlockNodeRedis = () => warlocks(nodeRedis3());

const QUIET = { warn() {}, error() {}, info() {}, debug() {} };
const universal = (client) => new IoredisAdapter(client, { logger: QUIET });
const ANOTHER = 'another-token-of-some-length';

const nullIfHeld = (error) => {
  if (error.name !== 'LockAcquisitionError' || !/held|locked/.test(`${error.message} ${error.cause?.message}`)) throw error;
  return null;
};

function simple(adapter) {
  const of = (key, ttl) => new SimpleLock({ adapter, key, ttl, retryAttempts: 0 });
  return {
    take: ([key], ttl) => of(key, ttl).acquire().catch(nullIfHeld),
    release: (handle) => of(handle.key, 1000).release(handle),
    intrude: (handle) => of(handle.key, 1000).release({ ...handle, value: ANOTHER }),
    extend: (handle, ttl) => of(handle.key, 1000).extend(handle, ttl),
  };
}

export const universalIoredis = () => simple(universal(ioredis(6)));
export const universalNodeRedis = async () => simple(new NodeRedisAdapter(await nodeRedis(), { logger: QUIET }));

// Several keys by one script, each with a token of its own; inspect sees what is held.
export function universalBatch() {
  const adapter = universal(ioredis());
  const manager = new LockManager({ nodes: [adapter], defaultRetryAttempts: 0 });
  const each = async (handles, f) => (await Promise.all(handles.map(f))).every(Boolean);
  return {
    take: (keys, ttl) => manager.acquireBatch(keys, { ttl }).catch(nullIfHeld),
    release: (handles) => each(handles, ({ key, value }) => adapter.delIfMatch(key, value)),
    intrude: (handles) => each(handles, ({ key }) => adapter.delIfMatch(key, ANOTHER)),
    extend: (handles, ttl) => each(handles, async ({ key, value }) => {
      const { resultCode } = await adapter.atomicExtend(key, value, 1000, ttl); // looks at the remaining time first
      const seen = await adapter.inspect(key);
      if (seen.value !== value || seen.ttl < ttl / 2) throw new Error(`inspect: ${JSON.stringify(seen)}`);
      if (await adapter.inspect(`${key}:none`) !== null) throw new Error('inspect of a free key');
      return resultCode === 1;
    }),
  };
}
