// Connections of the client libraries, and where redlockd is.

import { readFileSync } from 'node:fs';
import Redis5 from 'ioredis';
import Redis6 from 'ioredis6';
import { createClient } from 'redis';
import redis3 from 'redis3';

const host = process.env.REDLOCKD_HOST ?? '127.0.0.1';
const port = Number(process.env.REDLOCKD_PORT ?? 6380);

const open = [];

export function ioredis(major = 5) {
  const client = new (major === 6 ? Redis6 : Redis5)({ host, port, retryStrategy: () => null });
  client.on('error', () => {}); // what matters fails a command too
  open.push(() => client.disconnect());
  return client;
}

export async function nodeRedis(options = {}) {
  const client = createClient({ socket: { host, port, reconnectStrategy: false }, ...options });
  client.on('error', () => {});
  await client.connect();
  open.push(() => client.destroy());
  return client;
}

// The last with callbacks: what the older lock libraries were made for.
export function nodeRedis3() {
  const client = redis3.createClient({ host, port, retry_strategy: () => undefined });
  client.on('error', () => {});
  open.push(() => client.end(false));
  return client;
}

// The version that is installed, not the one that was asked for.
export function version(name) {
  const url = new URL(`node_modules/${name}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(url)).version.replace(/^v/, '');
}

export function close() {
  for (const end of open.splice(0)) {
    try { end(); } catch { /* it has ended by itself */ }
  }
}
