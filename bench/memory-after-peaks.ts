import { readFileSync } from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { BODIES_AT_ONCE, BODY_BYTES_MAX, BODY_PARTS_MAX } from '../lambdas/limits.ts';
import { residentBytes, startHostileProcess } from '../test/support/hostile-process.ts';

/**
 * Measures the memory of the program before, during and after many large bodies, and a minute of one small chat a
 * second: `ROUNDS=3 SECONDS=60 BODY=numbers npx node bench/memory-after-peaks.ts`. Each kind of body has a new process
 * with the flags of `npm start`. Linux only.
 */
const rounds = Number(process.env.ROUNDS ?? 3);
const seconds = Number(process.env.SECONDS ?? 60);
const WARM_CHATS = 300;
const MiB = 1_024 * 1_024;

const { scripts } = z
  .object({ scripts: z.object({ start: z.string() }) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));
const flags = scripts.start.split(' ').filter((word) => word.startsWith('--'));

const head = '{"model":"gpt-5.4","max_tokens":16,"messages":[{"role":"user","content":"hi"}]';
const small = Buffer.from(`${head}}`);
const rest = (text: string, after: string): string => 'a'.repeat(BODY_BYTES_MAX - text.length - after.length) + after;
const full = (text: string, after: string): Buffer => Buffer.from(text + rest(text, after));
const listOf = (makeItem: (index: number) => string): Buffer => {
  const items: string[] = [];
  for (let left = BODY_BYTES_MAX - head.length - 100; left > 0; left -= (items.at(-1)?.length ?? 0) + 1)
    items.push(makeItem(items.length));
  return Buffer.from(`${head},"ignored":[${items.slice(0, -1).join()}]}`);
};
const inText = '{"model":"gpt-5.4","max_tokens":16,"messages":[{"role":"user","content":"';

const bodies: Readonly<Record<string, () => Buffer>> = {
  'one text': () => full(inText, '"}]}'),
  numbers: () => listOf(() => '1.5'),
  'different strings': () => listOf((index) => `"${index.toString(36)}"`),
  'objects, and a text': () => full(`${head},"ignored":[${'{},'.repeat(BODY_PARTS_MAX - 20)}0],"user":"`, '"}'),
};

const residentMiB = (pid: number): number => Math.round(residentBytes(pid) / MiB);

const send = (port: number, apiKey: string, body: Buffer, localAddress = '127.0.0.1'): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-length': body.length };
    const path = '/v1/chat/completions';
    const request = http.request(
      { host: '127.0.0.1', port, localAddress, method: 'POST', path, headers },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    request.on('error', reject);
    request.end(body);
  });

const measure = async (name: string, body: Buffer): Promise<void> => {
  const gateway = await startHostileProcess(
    process.env.MALLOC ? Object.fromEntries(process.env.MALLOC.split(' ').map((x) => x.split('='))) : {},
    flags,
  );
  try {
    const keys = await Promise.all(Array.from({ length: BODIES_AT_ONCE }, () => gateway.issue('100')));
    for (let chat = 0; chat < WARM_CHATS; chat += 1) await send(gateway.port, gateway.apiKey, small);
    await sleep(5_000);
    const quiet = residentMiB(gateway.pid);
    const statuses: number[] = [];
    for (let round = 0; round < rounds; round += 1)
      statuses.push(
        ...(await Promise.all(keys.map((apiKey, index) => send(gateway.port, apiKey, body, `127.0.3.${index + 1}`)))),
      );
    const samples: number[] = [];
    for (let second = 0; second < seconds; second += 1) {
      if (second % 10 === 0) samples.push(residentMiB(gateway.pid));
      await send(gateway.port, gateway.apiKey, small);
      await sleep(1_000);
    }
    samples.push(residentMiB(gateway.pid));
    const counts = [...Map.groupBy(statuses, (status) => status)].map(([status, all]) => `${all.length} x ${status}`);
    console.log(
      `${name}: quiet ${quiet} MiB, peak ${Math.round(gateway.peakBytes() / MiB)}, then each 10 s ${samples.join(' ')} (${counts.join(', ')})`,
    );
  } finally {
    await gateway.stop();
  }
};

for (const [name, makeBody] of Object.entries(bodies))
  if (name.includes(process.env.BODY ?? '')) await measure(name, makeBody());
