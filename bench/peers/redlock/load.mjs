// Takes locks in concurrent loops, and reports how that goes. For each connection to its port it carries out one plan:
//
//   plan     {"clients":50,"release":false,"expiry":30000,"warmup":500,"measure":2500}   times in ms
//   reports  {"ops":12,"errors":0,"error":"","ns":[81000, …]}   a line each 100 ms: good ones that ended in the measured time, wrong
//            ones, the latencies of those that began in it
//   the end  {"done":true,"hung":0,"last":[{"key":"lock:0000:17","token":"…","got":18}, …]}   for each loop: its last good one, and
//            how many there were, warm-up included
//
//   node load.mjs PORT NODE...

import net from 'node:net';
import readline from 'node:readline';
import Redis from 'ioredis';
import Redlock from 'redlock';

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

async function carryOut(plan, report) {
  let fresh = { ops: 0, errors: 0, error: '', ns: [] };
  const last = [];
  const base = performance.now();
  const [from, to] = [plan.warmup, plan.warmup + plan.measure];

  async function loop(client) {
    let now = performance.now() - base;
    for (let n = 0; now < to; n += 1) {
      const began = now;
      const key = `lock:${String(client).padStart(4, '0')}:${n}`;
      let good = false;
      try {
        const lock = await redlock.acquire([key], plan.expiry);
        if (plan.release) await lock.release();
        last[client] = { key, token: lock.value, got: (last[client]?.got ?? 0) + 1 };
        good = true;
      } catch (error) {
        fresh.errors += 1;
        fresh.error ||= String(error.message);
      }
      now = performance.now() - base;
      if (began >= from) fresh.ns.push(Math.round((now - began) * 1e6));
      if (good && now >= from && now < to) fresh.ops += 1;
    }
  }

  const flush = () => {
    report(fresh);
    fresh = { ops: 0, errors: 0, error: '', ns: [] };
  };
  const timer = setInterval(flush, REPORT);
  let running = plan.clients;
  const loops = [...Array(plan.clients).keys()].map((client) => loop(client).then(() => { running -= 1; }));
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
