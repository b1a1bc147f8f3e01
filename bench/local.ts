import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, median, plainBody, statOf, stopAll, streamBody, type Target } from './measure.ts';
import { startFlags, startGateway, startLocal, startUpstream } from './programs.ts';

/**
 * Compares `npm start` on embedded stores with the same handlers on in-memory stores (`gateway.ts`). Rounds of the two
 * alternate, so that the ratio is valid on a busy machine. With `taskset`, the gateway has its own core. CPU and memory
 * come from /proc, so those rows need Linux.
 */
const CONCURRENCY = 16;
const ROUND = Number(process.env.BENCH_ROUND ?? 2_500);
/** Requests before the last measurement of CPU per request. */
const LONG = Number(process.env.BENCH_REQUESTS ?? 100_000);

const client = createClient(CONCURRENCY);

const print = (name: string, value: string, aim: string): void =>
  console.log(`${name.padEnd(52)}${value.padStart(14)}   ${aim}`);

const pairs = async (name: string, [local, stubbed]: readonly [Target, Target], body: string, aim: string) => {
  const rates: [number, number][] = [];
  for (let round = 0; round < 5; round += 1) {
    rates.push([await client.load(local, body, ROUND), await client.load(stubbed, body, ROUND)]);
  }
  const ratio = median(rates.map(([one, other]) => one / other)).toFixed(2);
  print(name, median(rates.map(([one]) => one)).toFixed(0), `${aim}; ${ratio} of in-memory stores`);
};

const firstByteAdded = async (local: Target, upstream: Target, body: string): Promise<number> => {
  const added: number[] = [];
  for (let index = 0; index < 1_500; index += 1) {
    const direct = await client.call(upstream, body);
    const through = await client.call(local, body);
    if (index >= 300) added.push(through.firstByteMs - direct.firstByteMs);
  }
  return median(added);
};

const cpuPerRequest = async (pid: number, target: Target, body: string, requests: number): Promise<number> => {
  const before = statOf(pid).cpuMs;
  await client.load(target, body, requests);
  return (statOf(pid).cpuMs - before) / requests;
};

const folder = mkdtempSync(join(tmpdir(), 'bench-local-'));
try {
  const { target: vendor } = await startUpstream();
  const data = join(folder, 'data');
  const { started: first } = await startLocal(vendor, data);
  first.child.kill('SIGTERM');
  await once(first.child, 'exit');
  const { started: gateway, pid, target: local } = await startLocal(vendor, data);
  print('Start, warm, ms', gateway.readyMs.toFixed(0), 'at most 1500');
  await sleep(3_000);
  const idle = statOf(pid);
  await sleep(10_000);
  const later = statOf(pid);
  print('CPU at idle, %', ((later.cpuMs - idle.cpuMs) / 100).toFixed(1), 'below 1');
  print('Memory at idle, MB', later.rssMb.toFixed(0), 'below 150');

  const memory = await startGateway(vendor, {}, startFlags());
  const stubbed = memory.target;
  await client.load(local, plainBody, 2_500);
  await client.load(stubbed, plainBody, 2_500);
  print(
    'First byte added at concurrency 1, ms',
    (await firstByteAdded(local, vendor, streamBody)).toFixed(2),
    'at most 3',
  );
  const early = await cpuPerRequest(pid, local, plainBody, 5_000);
  await pairs('Plain chats at concurrency 16, per second', [local, stubbed], plainBody, 'at least 900');
  await pairs('Streams of 100 events at concurrency 16, per second', [local, stubbed], streamBody, 'at least 300');
  print('Memory after 30,000 requests, MB', statOf(pid).rssMb.toFixed(0), 'below 200');
  print('Memory on in-memory stores, MB', statOf(memory.pid).rssMb.toFixed(0), 'below 190');
  await client.load(local, plainBody, Math.max(0, LONG - 40_000));
  const late = await cpuPerRequest(pid, local, plainBody, 5_000);
  print(`CPU per request, early and after ${LONG}, ms`, `${early.toFixed(3)} ${late.toFixed(3)}`, 'ratio at most 1.1');
  print('Ratio', (late / early).toFixed(2), '');
  print('Memory at the end, MB', statOf(pid).rssMb.toFixed(0), '');
} finally {
  client.close();
  stopAll();
  rmSync(folder, { recursive: true, force: true });
}
