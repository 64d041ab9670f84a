// node-redlock, in its two generations, and what descends from it. To them redlockd is one server.

import Redlock4 from 'redlock4';
import * as redlock5 from 'redlock5';
import * as sesame from '@sesamecare-oss/redlock';
import { ioredis, nodeRedis3 } from './clients.mjs';

const ONCE = { retryCount: 0 };
const PATIENT = { retryCount: 2000, retryDelay: 12, retryJitter: 8 };

// The lock errors of contention are an answer; what the server said is kept for the report.
const nullIf = (name) => (error) => {
  if (error.name !== name) throw error;
  return null;
};

export function version4(client) {
  const once = new Redlock4([client], ONCE);
  const patient = new Redlock4([client], PATIENT);
  let last = '';
  for (const r of [once, patient]) r.on('clientError', (error) => { last = error.message; });
  return {
    take: (keys, ttl) => once.lock(keys, ttl).catch(nullIf('LockError')),
    acquire: (keys, ttl) => patient.lock(keys, ttl),
    release: (lock) => lock.unlock().then(() => true),
    intrude: (lock) => new Redlock4.Lock(once, lock.resource, 'another', lock.expiration).unlock().then(() => true),
    extend: (lock, ttl) => lock.extend(ttl),
    trouble: () => last,
  };
}

export const version4Ioredis = (major) => version4(ioredis(major));
export const version4NodeRedis = () => version4(nodeRedis3());

// Version 5 and the rewrite of sesamecare have one interface.
function version5({ Lock, ResourceLockedError }, Redlock, client) {
  const redlock = new Redlock([client], ONCE);
  let last = '';
  redlock.on('error', (error) => {
    if (!(error instanceof ResourceLockedError)) last = error.message;
  });
  return {
    take: (keys, ttl) => redlock.acquire(keys, ttl).catch(nullIf('ExecutionError')),
    acquire: (keys, ttl) => redlock.acquire(keys, ttl, PATIENT),
    release: (lock) => lock.release().then(() => true),
    intrude: (lock) => new Lock(redlock, lock.resources, 'another', [], lock.expiration).release().then(() => true),
    extend: (lock, ttl) => lock.extend(ttl),
    trouble: () => last,
  };
}

export const version5Ioredis = (major) => version5(redlock5, redlock5.default, ioredis(major));
export const sesamecare = (major) => version5(sesame, sesame.Redlock, ioredis(major));
