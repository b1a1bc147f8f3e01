import { fork } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createImageFetch } from '../lambdas/providers/image-fetch.ts';
import { startInProcess } from '../test/support/in-process-gateway.ts';

/**
 * Measures memory and event loop of the gateway, and the latency of a stranger, while one account sends small requests
 * that bring much data: images that the gateway fetches, and embeddings. `REQUESTS=8 npx node bench/request-memory.ts`.
 * The gateway runs in its own process, the provider and the images in another one, and the clients in this one.
 */
const MiB = 1_024 * 1_024;
const requests = Number(process.env.REQUESTS ?? 8);

interface Ready {
  readonly url: string;
  /** Port of the images. */
  readonly port: number;
  readonly keys: { readonly empty: string; readonly funded: string; readonly stranger: string };
}

interface Report {
  readonly rssPeak: number;
  readonly lagMs: number;
}

const runGateway = async (vendorUrl: string, send: (message: unknown) => void): Promise<void> => {
  const fetchImage = createImageFetch({
    lookup: (_, __, answer) => answer(null, [{ address: '127.0.0.1', family: 4 }]),
    reach: { address: () => true, port: () => true },
  });
  const gateway = await startInProcess({ vendorUrl, now: Date.now, change: () => ({ fetchImage }) });
  const keyOf = async (balanceUsd: string) => (await gateway.issue({ balanceUsd })).apiKey;
  const keys = { empty: await keyOf('0'), funded: await keyOf('100'), stranger: await keyOf('100') };
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  let rssPeak = 0;
  setInterval(() => {
    rssPeak = Math.max(rssPeak, process.memoryUsage.rss());
  }, 10);
  process.on('message', () => {
    send({ rssPeak, lagMs: delay.max / 1e6 } satisfies Report);
    rssPeak = 0;
    delay.reset();
  });
  process.once('SIGTERM', () => void gateway.stop().finally(() => process.exit(0)));
  send({ url: gateway.url, port: Number(new URL(vendorUrl).port), keys } satisfies Ready);
};

const chat = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 },
});
const numbers = Array.from({ length: 3_072 }, (_, at) => `-0.0${123_456_789 + at * 7_919}123`.slice(0, 16)).join(',');
const items = Array.from(
  { length: 800 },
  (_, index) => `{"object":"embedding","index":${index},"embedding":[${numbers}]}`,
);
const usage = '"usage":{"prompt_tokens":800,"total_tokens":800}';
const embeddings = Buffer.from(
  `{"object":"list","data":[${items.join(',')}],"model":"text-embedding-3-large",${usage}}`,
);
const image = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(19 * MiB)]);
let imageBytes = 0;

/** Images come without a length, and their last bytes after 2 s. */
async function* imagePieces(): AsyncGenerator<Buffer> {
  for (let at = 0; at < image.length; at += MiB / 4) {
    imageBytes += MiB / 4;
    yield image.subarray(at, at + MiB / 4);
  }
  await sleep(2_000);
  yield Buffer.from('x');
}

const server = http.createServer((request, response) => {
  if (request.method === 'GET') {
    Readable.from(imagePieces(), { objectMode: false }).pipe(response);
    return;
  }
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (request.url?.endsWith('/embeddings')) setTimeout(() => response.end(embeddings), 300);
    else response.end(chat);
  });
});

const post = async (url: string, key: string, path: string, body: unknown): Promise<number> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  await response.arrayBuffer();
  return response.status;
};

const withImages = (port: number, request: number) => ({
  model: 'gemini-3.8-flash',
  max_tokens: 10,
  messages: [
    {
      role: 'user',
      content: Array.from({ length: 4 }, (_, at) => ({
        type: 'image_url',
        image_url: { url: `http://images.example:${port}/${request}-${at}.png` },
      })),
    },
  ],
});

const small = { model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'Hi' }] };
const large = { model: 'text-embedding-3-large', input: Array.from({ length: 800 }, () => [1]) };

const runServer = async (send: (message: unknown) => void): Promise<void> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('message', () => {
    send(imageBytes);
    imageBytes = 0;
  });
  send((server.address() as AddressInfo).port);
};

/** Starts this program in another role. Each message to it gets one reply. */
const start = async <First, Reply>(environment: Readonly<Record<string, string>>) => {
  const child = fork(import.meta.filename, [], { env: { ...process.env, ...environment } });
  const [first]: readonly First[] = await once(child, 'message');
  if (first === undefined) throw new Error('a process ended early');
  const report = async (): Promise<Reply> => {
    const reply = once(child, 'message');
    child.send('report');
    return (await reply)[0];
  };
  return { first, report, stop: () => child.kill() };
};

type Attack = (ready: Ready, request: number) => Promise<number>;

/** Each phase has a new gateway, because a process keeps memory after a peak. */
const runPhase = async (title: string, attack: Attack | undefined): Promise<void> => {
  const vendor = await start<number, number>({ ROLE: 'server' });
  const gateway = await start<Ready, Report>({ ROLE: 'gateway', VENDOR_URL: `http://127.0.0.1:${vendor.first}` });
  const ready = gateway.first;
  const chatOnce = () => post(ready.url, ready.keys.stranger, '/v1/chat/completions', small);
  for (let call = 0; call < 50; call += 1) await chatOnce();
  await Promise.all([gateway.report(), vendor.report()]);
  let isOver = false;
  const times: number[] = [];
  const stranger = async (): Promise<void> => {
    while (!isOver) {
      const startedAt = performance.now();
      await chatOnce();
      times.push(performance.now() - startedAt);
      await sleep(10);
    }
  };
  const strange = stranger();
  const attackers = attack ? Array.from({ length: requests }, (_, request) => attack(ready, request)) : [];
  const [answered] = await Promise.all([Promise.all(attackers), sleep(2_000)]);
  isOver = true;
  await strange;
  const [{ rssPeak, lagMs }, sentBytes] = await Promise.all([gateway.report(), vendor.report()]);
  gateway.stop();
  vendor.stop();
  times.sort((one, other) => one - other);
  const at = (share: number): string => (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(0);
  const counts = [...Map.groupBy(answered, (status) => status)].map(([status, all]) => `${all.length} x ${status}`);
  console.log(
    `${title}: ${counts.join(', ')}; peak ${Math.round(rssPeak / MiB)} MiB, loop ${lagMs.toFixed(0)} ms, ` +
      `stranger p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, images ${Math.round(sentBytes / MiB)} MiB`,
  );
};

const measure = async (): Promise<void> => {
  const images = ({ url, port }: Ready, key: string, request: number) =>
    post(url, key, '/v1/chat/completions', withImages(port, request));
  await runPhase('quiet', undefined);
  await runPhase('images, empty account', (ready, request) => images(ready, ready.keys.empty, request));
  await runPhase('images, funded account', (ready, request) => images(ready, ready.keys.funded, request));
  await runPhase('embeddings', ({ url, keys }) => post(url, keys.funded, '/v1/embeddings', large));
};

const { ROLE: role, VENDOR_URL: vendorUrl = '' } = process.env;
const reply = (message: unknown): void => void process.send?.(message);
if (role === 'gateway') await runGateway(vendorUrl, reply);
else if (role === 'server') await runServer(reply);
else await measure();
