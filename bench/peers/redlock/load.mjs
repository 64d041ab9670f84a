// Takes locks in concurrent loops, and reports how that goes. For each connection to its port it carries out one plan:
//
//   plan     {"work":"take","clients":50,"expiry":30000,"warmup":500,"measure":2500}   times in ms; work as in bench/load
//   reports  {"ops":12,"granted":0,"errors":0,"error":"","ns":[81000, …]}   a line each 100 ms: good ones that ended in the
//            measured time, how many of them were granted where that is in question, wrong ones, the latencies of those that
//            began in the measured time
//   the end  {"done":true,"hung":0,"last":[{"key":"lock:0000:17","token":"…","got":18}, …]}   for each loop: its last good one, and
//            how many there were, warm-up included
//
//   node load.mjs PORT NODE...

import net from 'node:net';
import readline from 'node:readline';
import Redis from 'ioredis';
import Redlock, { ResourceLockedError } from 'redlock';

const REPORT = 100; // ms between two reports
const GRACE = 5000; // ms after the measured time for answers that are still outstanding

const [port, ...nodes] = process.argv.slice(2);

// As the documentation of redlock has it: one ioredis a node, with its own settings; but one try for a lock.
const redises = nodes.map((node) => {
  const [host, nodePort] = node.split(':');
  const redis = new Redis({ host, port: Number(nodePort) });
  redis.on('error', () => {}); // what it means for a lock, redlock tells
  return redis;
});
const redlock = new Redlock(redises, { retryCount: 0 });

// Was it refused because somebody else has it, and nothing else went wrong?
async function isRefusal(error) {
  const stats = await Promise.all(error.attempts ?? []);
  const against = stats.flatMap(({ votesAgainst }) => [...votesAgainst.values()]);
  return against.length > 0 && against.every((vote) => vote instanceof ResourceLockedError);
}

async function carryOut({ work, clients, expiry, warmup, measure }, report) {
  const nothing = () => ({ ops: 0, granted: 0, errors: 0, error: '', ns: [] });
  const own = (client) => `lock:${String(client).padStart(4, '0')}`;
  let fresh = nothing();
  const last = [];
  if (work === 'refused') {
    await Promise.all([...Array(clients).keys()].map(async (client) => {
      last[client] = { key: own(client), token: (await redlock.acquire([own(client)], expiry)).value, got: 0 };
    }));
  }
  const [from, to] = [warmup, warmup + measure];
  const base = performance.now();

  // One piece of work: was the lock granted?
  async function once(client, n) {
    const key = { refused: own(client), contended: 'lock' }[work] ?? `${own(client)}:${n}`;
    let lock;
    try {
      lock = await redlock.acquire([key], expiry);
    } catch (error) {
      if (!['refused', 'contended'].includes(work) || !await isRefusal(error)) throw error;
      if (work === 'refused') last[client].got += 1;
      return false;
    }
    if (work === 'refused') throw new Error('a lock that another holds was granted');
    if (work !== 'take') await lock.release();
    last[client] = { key, token: lock.value, got: (last[client]?.got ?? 0) + 1 };
    return true;
  }

  async function loop(client) {
    let now = performance.now() - base;
    for (let n = 0; now < to; n += 1) {
      const began = now;
      let granted = false;
      let good = true;
      try {
        granted = await once(client, n);
      } catch (error) {
        good = false;
        fresh.errors += 1;
        fresh.error ||= String(error.message);
      }
      now = performance.now() - base;
      if (began >= from) fresh.ns.push(Math.round((now - began) * 1e6));
      if (good && now >= from && now < to) {
        fresh.ops += 1;
        if (granted && work === 'contended') fresh.granted += 1;
      }
    }
  }

  const flush = () => {
    report(fresh);
    fresh = nothing();
  };
  const timer = setInterval(flush, REPORT);
  let running = clients;
  const loops = [...Array(clients).keys()].map((client) => loop(client).then(() => { running -= 1; }));
  await Promise.race([Promise.all(loops), new Promise((resolve) => { setTimeout(resolve, to + GRACE); })]);
  clearInterval(timer);
  flush();
  report({ done: true, hung: running, last: last.filter(Boolean) });
}

await Promise.all(redises.map((redis) => redis.ping()));
net.createServer((socket) => {
  socket.on('error', () => process.exit(1)); // the bench is gone
  const report = (line) => socket.write(`${JSON.stringify(line)}\n`);
  readline.createInterface({ input: socket }).once('line', (line) => carryOut(JSON.parse(line), report));
}).listen(Number(port), '127.0.0.1');
