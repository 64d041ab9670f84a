// Prints a line of JSON for each library, version and way to use it. Nothing else goes to stdout.

import { exercise, none, reason, refusal } from './checks.mjs';
import * as classic from './classic.mjs';
import { close, ioredis, version } from './clients.mjs';
import * as others from './others.mjs';
import * as redlock from './redlock.mjs';

console.log = console.info = console.error;

const ATONCE = 3; // rows; most of their time they wait

// Package, how it is used, what makes a lock, and over how many keys at once.
const rows = [
  ['ioredis', 'defineCommand', () => classic.ioredisCommands(5)],
  ['ioredis', 'EVALSHA, SCRIPT LOAD', () => classic.ioredisSha(5)],
  ['ioredis6', 'defineCommand, RESP3', () => classic.ioredisCommands(6)],
  ['ioredis6', 'EVALSHA, SCRIPT LOAD, RESP3', () => classic.ioredisSha(6)],
  ['redis', 'eval, RESP2', classic.nodeRedisEval],
  ['redis', 'defineScript, RESP3', classic.nodeRedisScripts],
  ['redlock4', 'over ioredis 5', () => redlock.version4Ioredis(5)],
  ['redlock4', 'over ioredis 6, three keys', () => redlock.version4Ioredis(6), 3],
  ['redlock4', 'over node-redis 3', redlock.version4NodeRedis],
  ['redlock5', 'over ioredis 5', () => redlock.version5Ioredis(5)],
  ['redlock5', 'over ioredis 6', () => redlock.version5Ioredis(6)],
  ['redlock5', 'over ioredis 5, three keys', () => redlock.version5Ioredis(5), 3],
  ['@sesamecare-oss/redlock', 'over ioredis 5', () => redlock.sesamecare(5)],
  ['@sesamecare-oss/redlock', 'over ioredis 6, three keys', () => redlock.sesamecare(6), 3],
  ['redis-semaphore', 'Mutex, over ioredis 5', () => others.mutex(5)],
  ['redis-semaphore', 'Mutex, over ioredis 6', () => others.mutex(6)],
  ['node-redis-warlock', 'over ioredis 5', others.warlockIoredis],
  ['node-redis-warlock', 'over node-redis 3', others.warlockNodeRedis],
  ['redlock-universal', 'SimpleLock, over ioredis 6', others.universalIoredis],
  ['redlock-universal', 'SimpleLock, over node-redis', others.universalNodeRedis],
  ['redlock-universal', 'acquireBatch of three keys, atomicExtend, inspect', others.universalBatch, 3],
];

const refused = [
  ['redis-semaphore', 'Semaphore', others.semaphore, 'sorted sets'],
];

const names = { ioredis6: 'ioredis', redlock4: 'redlock', redlock5: 'redlock', redis: 'node-redis' };

function line(name, how, checks, note = '') {
  const row = { language: 'JavaScript', library: names[name] ?? name, version: version(name), how, checks, note };
  return `${JSON.stringify(row)}\n`;
}

const probe = ioredis();
const pttl = (key) => probe.pttl(key);

async function tryOut([name, how, make, keys = 1]) {
  try {
    return line(name, how, await exercise(await make(), await make(), pttl, keys));
  } catch (error) {
    return line(name, how, none(reason(error))); // it could not even connect
  }
}

const jobs = [
  ...rows.map((row) => () => tryOut(row)),
  ...refused.map(([name, how, attempt, note]) => async () => line(name, how, { refused: await refusal(attempt) }, note)),
];

// Some at a time, and printed in their order: the table in README.md is not to change with every run.
const lines = [];
let printed = 0;
await Promise.all([...Array(ATONCE)].map(async (_, first) => {
  for (let i = first; i < jobs.length; i += ATONCE) {
    lines[i] = await jobs[i]();
    while (lines[printed]) process.stdout.write(lines[printed++]);
  }
}));
close();
process.exit(); // a check that was given up may still be waiting
