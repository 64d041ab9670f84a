// SET NX PX and the two scripts of the Redis documentation, as applications write them without a lock library.

import { createHash, randomBytes } from 'node:crypto';
import { defineScript } from 'redis';
import { ioredis, nodeRedis } from './clients.mjs';

const RELEASE = `
if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("del", KEYS[1])
else
  return 0
end`;

const EXTEND = `
if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("pexpire", KEYS[1], ARGV[2])
else
  return 0
end`;

// A lock out of three functions: how to take, how to release, how to extend.
function lock(set, del, pexpire) {
  return {
    async take([key], ttl) {
      const token = randomBytes(16).toString('hex');
      return await set(key, token, ttl) === 'OK' ? { key, token } : null;
    },
    release: async ({ key, token }) => await del(key, token) === 1,
    intrude: async ({ key }) => await del(key, 'another') === 1,
    extend: async ({ key, token }, ttl) => await pexpire(key, token, ttl) === 1,
  };
}

// defineCommand: the client sends EVAL first, EVALSHA later.
export function ioredisCommands(major) {
  const client = ioredis(major);
  client.defineCommand('lockRelease', { numberOfKeys: 1, lua: RELEASE });
  client.defineCommand('lockExtend', { numberOfKeys: 1, lua: EXTEND });
  return lock(
    (key, token, ttl) => client.set(key, token, 'PX', ttl, 'NX'),
    (key, token) => client.lockRelease(key, token),
    (key, token, ttl) => client.lockExtend(key, token, ttl),
  );
}

// EVALSHA by hand: SCRIPT LOAD when the server does not know it.
export function ioredisSha(major) {
  const client = ioredis(major);
  const run = async (script, ...args) => {
    const sha = createHash('sha1').update(script).digest('hex');
    try {
      return await client.evalsha(sha, 1, ...args);
    } catch (error) {
      if (!error.message.startsWith('NOSCRIPT')) throw error;
      return client.evalsha(await client.script('LOAD', script), 1, ...args);
    }
  };
  return lock(
    (key, token, ttl) => client.set(key, token, 'PX', ttl, 'NX'),
    (key, token) => run(RELEASE, key, token),
    (key, token, ttl) => run(EXTEND, key, token, ttl),
  );
}

const put = (client) => (key, token, ttl) => client.set(key, token, {
  condition: 'NX', expiration: { type: 'PX', value: ttl },
});

export async function nodeRedisEval() {
  const client = await nodeRedis({ RESP: 2 });
  const run = (script, key, ...args) => client.eval(script, { keys: [key], arguments: args.map(String) });
  return lock(
    put(client),
    (key, token) => run(RELEASE, key, token),
    (key, token, ttl) => run(EXTEND, key, token, ttl),
  );
}

// defineScript: EVALSHA first, EVAL on NOSCRIPT.
export async function nodeRedisScripts() {
  const script = (lua) => defineScript({
    SCRIPT: lua,
    NUMBER_OF_KEYS: 1,
    parseCommand(parser, key, ...args) {
      parser.pushKey(key);
      parser.push(...args.map(String));
    },
    transformReply: (reply) => reply,
  });
  const client = await nodeRedis({ scripts: { lockRelease: script(RELEASE), lockExtend: script(EXTEND) } });
  return lock(
    put(client),
    (key, token) => client.lockRelease(key, token),
    (key, token, ttl) => client.lockExtend(key, token, ttl),
  );
}
