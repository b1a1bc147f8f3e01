import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installRuntimeClient } from '../test/runtime-client/install-client.ts';
import type { Invocation } from '../test/runtime-client/runtime-api.ts';
import { startTextFunction, type TextFunction } from '../test/runtime-client/text-function.ts';
import { createCgroup } from './cgroup.ts';
import { chat, event } from './function-event.ts';

/**
 * Measures the deployed bundle of the function `text` under AWS's runtime client, with the CPU and the memory of several
 * sizes of a Lambda function. The sizes alternate in each run, so that their ratio is valid on a busy machine. Needs
 * Linux with writable control groups, such as root has, and a C++ compiler or `RUNTIME_CLIENT`.
 */
const RUNS = Number(process.env.BENCH_RUNS ?? 3);
const CHATS = Number(process.env.BENCH_CHATS ?? 40);
const sizes = (process.env.BENCH_MB ?? '512,768,1024,1769').split(',').map(Number);

/** One vCPU: https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
const VCPU_MB = 1_769;
/** Time before the status line of the simulated provider, in ms. */
const PROVIDER_MS = 300;
/** Number of largest requests that one process serves. */
const REPEATS = 5;

const shortChat = chat(`hello [[delay ${PROVIDER_MS}]] [[words 60]]`, { stream: true });

interface Sample {
  readonly firstByteMs: number;
  /** From the arrival of the event until the function asks for the next one, as AWS bills it. */
  readonly billedMs: number;
}

const measure = async ({ api }: TextFunction, sent: object): Promise<Sample> => {
  const startedAt = performance.now();
  const invocation = api.invoke(sent);
  await invocation.saw('data: ');
  const firstByteMs = performance.now() - startedAt;
  await invocation.ended;
  await api.idle();
  return { firstByteMs, billedMs: performance.now() - startedAt };
};

interface Result {
  readonly initMs: number;
  readonly cold: Sample;
  readonly warm: readonly Sample[];
  readonly cpuMs: number;
}

/** Starts the function with the memory of a size. AWS's runtime derives Node's heap from the memory. */
const start = async (entry: string, memoryMb: number, initShare: number) => {
  const group = createCgroup(`gateway-bench-${process.pid}`, memoryMb);
  group.setCpu(initShare);
  const flags = [
    `--max-old-space-size=${Math.floor(memoryMb * 0.9)}`,
    `--max-semi-space-size=${Math.floor(memoryMb * 0.05)}`,
  ];
  const started = await startTextFunction(entry, { memoryMb, flags, launcher: group.launcher });
  const startedAt = performance.now();
  await started.api.idle();
  const initMs = performance.now() - startedAt;
  const stop = async (): Promise<void> => {
    await started.stop();
    // The kernel removes a process from its group a moment after its end.
    await sleep(100);
    group.remove();
  };
  return { started, group, initMs, stop };
};

/** A cold start and warm chats. AWS gives a starting function more CPU than its share, so it starts with one vCPU. */
const run = async (entry: string, memoryMb: number): Promise<Result> => {
  const { started, group, initMs, stop } = await start(entry, memoryMb, 1);
  try {
    group.setCpu(memoryMb / VCPU_MB);
    const sent = event(started.apiKey, '/v1/chat/completions', shortChat);
    const cold = await measure(started, sent);
    for (let round = 0; round < 10; round += 1) await measure(started, sent);
    const before = group.cpuMs();
    const warm: Sample[] = [];
    for (let round = 0; round < CHATS; round += 1) warm.push(await measure(started, sent));
    return { initMs, cold, warm, cpuMs: (group.cpuMs() - before) / CHATS };
  } finally {
    await stop();
  }
};

const quantile = (values: readonly number[], share: number): string =>
  (values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) * share)] ?? 0).toFixed(0);

const report = (memoryMb: number, { initMs, cold, warm, cpuMs }: Result): void => {
  const first = warm.map(({ firstByteMs }) => firstByteMs - PROVIDER_MS);
  const billed = warm.map(({ billedMs }) => billedMs);
  console.log(
    [
      `${memoryMb} MB`.padStart(8),
      `init ${initMs.toFixed(0)} ms`,
      `first request ${(cold.firstByteMs - PROVIDER_MS).toFixed(0)} ms to the first byte, ${cold.billedMs.toFixed(0)} ms billed`,
      `then added to the first byte ${quantile(first, 0.5)} ms (p95 ${quantile(first, 0.95)})`,
      `billed ${quantile(billed, 0.5)} ms (p95 ${quantile(billed, 0.95)})`,
      `CPU ${cpuMs.toFixed(1)} ms`,
    ].join(', '),
  );
};

/** The largest events that Lambda delivers, 6 MB, and the largest responses of providers that the gateway reads. */
const largest: readonly (readonly [title: string, path: string, body: () => object])[] = [
  ['chat of 6 MB of text', '/v1/chat/completions', () => chat(`${'a word '.repeat(850_000)}[[words 20]]`)],
  [
    'chat with an image of 4.4 MB in base64',
    '/v1/chat/completions',
    () => chat([{ type: 'image_url', image_url: { url: `data:image/png;base64,${imageOf(4_400_000)}` } }]),
  ],
  ['response of 60 MB', '/v1/chat/completions', () => chat('[[bytes 60000000]]', { max_tokens: 32_000 })],
  ['stream of 60 MB', '/v1/chat/completions', () => chat('[[bytes 60000000]]', { max_tokens: 32_000, stream: true })],
  [
    'embeddings of 2.5 million numbers',
    '/v1/embeddings',
    () => ({ model: 'text-embedding-3-large', input: Array.from({ length: 813 }, (_, at) => `input ${at}`) }),
  ],
];

const imageOf = (bytes: number): string => {
  const image = Buffer.alloc(bytes, 7);
  Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ', 'base64').copy(image);
  return image.toString('base64');
};

const statusOf = async (invocation: Invocation): Promise<string> => {
  const { error } = await invocation.ended;
  const bytes = invocation.bytes();
  const [, status] = /"statusCode":(\d+)/.exec(bytes.subarray(0, 4_096).toString('latin1')) ?? [];
  const [, code] = /"code":"(\w+)"/.exec(bytes.subarray(-1_000).toString('latin1')) ?? [];
  return `${status ?? 'no status'} ${code ?? ''} ${error ?? ''} ${(bytes.length / 1_000_000).toFixed(1)} MB out`;
};

const peakOf = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

/** Sends the largest requests: each kind to a process of its own, then all to one. A process that ends had too little. */
const survive = async (entry: string, memoryMb: number): Promise<void> => {
  for (const one of largest)
    await repeat(
      entry,
      memoryMb,
      one[0],
      Array.from({ length: REPEATS }, () => one),
    );
  await repeat(entry, memoryMb, 'all of these', [largest, largest, largest].flat());
};

const repeat = async (entry: string, memoryMb: number, title: string, requests: typeof largest): Promise<void> => {
  const { started, stop } = await start(entry, memoryMb, 1);
  const outcomes = new Set<string>();
  try {
    const idle = peakOf(started.pid);
    for (const [, path, body] of requests) {
      if (!started.running()) break;
      const invocation = started.api.invoke(event(started.apiKey, path, body()));
      outcomes.add(await Promise.race([statusOf(invocation), sleep(60_000, 'no response in 60 s')]));
      if (started.running()) await started.api.idle();
    }
    const peak = started.running() ? `peak ${peakOf(started.pid).toFixed(0)} MiB` : 'the process ended';
    if (!started.running()) console.log(started.output().slice(-2_000));
    console.log(`${memoryMb} MB, ${title}: ${peak} (${idle.toFixed(0)} at the start); ${[...outcomes].join('; ')}`);
  } finally {
    await stop();
  }
};

const folder = mkdtempSync(join(tmpdir(), 'gateway-function-memory-'));
try {
  const { RUNTIME_CLIENT: given } = process.env;
  const client = given ? { entry: given } : installRuntimeClient(folder);
  if ('missing' in client) throw new Error(`AWS's runtime client cannot be installed: ${client.missing}`);
  for (let round = 1; round <= RUNS; round += 1) {
    console.log(`Run ${round} of ${RUNS}`);
    const order = round % 2 === 1 ? sizes : sizes.toReversed();
    for (const memoryMb of order) report(memoryMb, await run(client.entry, memoryMb));
  }
  for (const memoryMb of sizes) await survive(client.entry, memoryMb);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
