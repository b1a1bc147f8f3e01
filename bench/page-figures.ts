import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core';

export interface Target {
  readonly name: string;
  /** Returns the URL to open. */
  readonly open: () => Promise<string>;
  /** Selector of an element that exists when the page shows its content. */
  readonly ready: string;
}

/** Times count from the start of the navigation. */
export interface Figures {
  readonly requests: number;
  /** Headers and bodies, as the server sends them. */
  readonly servedBytes: number;
  /** Bodies that a proxy with this compression would send. */
  readonly gzipBytes: number;
  readonly brotliBytes: number;
  readonly nodes: number;
  readonly firstPaintMs: number;
  readonly largestPaintMs: number;
  /** End of the last task of more than 50 ms after the first paint, or the first paint. */
  readonly interactiveMs: number;
  /** Sum of the parts above 50 ms of tasks between the first paint and `interactiveMs`. */
  readonly blockedMs: number;
  readonly layoutShift: number;
}

/** Lighthouse's mobile simulation: https://github.com/GoogleChrome/lighthouse/blob/main/core/config/constants.js */
const CPU_SLOWDOWN = 4;
const network = {
  offline: false,
  latency: 150 * 3.75,
  downloadThroughput: (1.6 * 1_024 * 1_024 * 0.9) / 8,
  uploadThroughput: (750 * 1_024 * 0.9) / 8,
};

/** The page is complete when no task was long and no data arrived for this time. */
const QUIET_MS = 2_000;

interface Seen {
  readonly now: number;
  readonly nodes: number;
  readonly firstPaintMs: number;
  readonly largestPaintMs: number;
  readonly layoutShift: number;
  readonly tasks: readonly { readonly startMs: number; readonly endMs: number }[];
}

/** Opens the page in a new context, with an empty cache, and measures it until it is quiet. */
export const measurePage = async (
  browser: Browser,
  { open, ready }: Target,
  options: BrowserContextOptions,
): Promise<Figures> => {
  const context = await browser.newContext(options);
  try {
    const page = await context.newPage();
    await page.addInitScript(observe);
    const session = await context.newCDPSession(page);
    const traffic = await watchTraffic(session);
    const bodies: Promise<Buffer>[] = [];
    page.on('response', (response) => {
      // The stream of events of the local page never ends.
      const type = response.headers()['content-type'] ?? '';
      if (!type.startsWith('text/event-stream')) bodies.push(response.body().catch(() => Buffer.alloc(0)));
    });
    const url = await open();
    await session.send('Network.emulateNetworkConditions', network);
    await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
    await page.goto(url, { waitUntil: 'load', timeout: 120_000 });
    await page.locator(ready).first().waitFor({ timeout: 120_000 });
    const seen = await untilQuiet(page, traffic);
    const received = await Promise.all(bodies);
    return { ...traffic.figures(), ...compressed(received), ...toFigures(seen) };
  } finally {
    await context.close();
  }
};

const toFigures = ({ tasks, nodes, firstPaintMs, largestPaintMs, layoutShift }: Seen) => {
  const long = tasks.filter(({ endMs }) => endMs > firstPaintMs);
  const blocked = long.map(({ startMs, endMs }) => endMs - Math.max(startMs, firstPaintMs) - 50);
  return {
    ...{ nodes, firstPaintMs, largestPaintMs, layoutShift },
    interactiveMs: Math.max(firstPaintMs, ...long.map(({ endMs }) => endMs)),
    blockedMs: blocked.reduce((sum, ms) => sum + Math.max(0, ms), 0),
  };
};

const compressed = (bodies: readonly Buffer[]) => {
  const sum = (compress: (body: Buffer) => Buffer): number =>
    bodies.reduce((bytes, body) => bytes + Math.min(body.length, compress(body).length), 0);
  return { gzipBytes: sum(gzipSync), brotliBytes: sum(brotliCompressSync) };
};

interface Traffic {
  readonly figures: () => Pick<Figures, 'requests' | 'servedBytes'>;
  readonly lastMs: () => number;
}

const watchTraffic = async (session: CDPSession): Promise<Traffic> => {
  let [requests, servedBytes, lastMs] = [0, 0, performance.now()];
  const touch = (): void => {
    lastMs = performance.now();
  };
  session.on('Network.requestWillBeSent', ({ request }) => {
    if (!request.url.startsWith('data:')) requests += 1;
    touch();
  });
  session.on('Network.dataReceived', touch);
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    servedBytes += encodedDataLength;
    touch();
  });
  await session.send('Network.enable');
  return { figures: () => ({ requests, servedBytes }), lastMs: () => lastMs };
};

const untilQuiet = async (page: Page, traffic: Traffic): Promise<Seen> => {
  for (;;) {
    const seen: Seen = await page.evaluate(readSeen);
    const sinceTaskMs = seen.now - (seen.tasks.at(-1)?.endMs ?? 0);
    if (Math.min(sinceTaskMs, performance.now() - traffic.lastMs()) > QUIET_MS) return seen;
    await sleep(200);
  }
};

/**
 * These run in the browser. Layout shift is the largest sum within a window of at most 5 s without a pause of 1 s:
 * https://web.dev/articles/cls
 */
const observe = `(() => {
  const seen = { firstPaintMs: 0, largestPaintMs: 0, tasks: [], shifts: [] };
  globalThis.seenByBench = seen;
  const watch = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  watch('paint', ({ name, startTime }) => {
    if (name === 'first-contentful-paint') seen.firstPaintMs = startTime;
  });
  watch('largest-contentful-paint', ({ startTime }) => {
    seen.largestPaintMs = startTime;
  });
  watch('longtask', ({ startTime, duration }) => seen.tasks.push({ startMs: startTime, endMs: startTime + duration }));
  watch('layout-shift', ({ startTime, value, hadRecentInput }) => {
    if (!hadRecentInput) seen.shifts.push({ startTime, value });
  });
})()`;

const readSeen = `(() => {
  const { shifts, ...seen } = globalThis.seenByBench;
  let [layoutShift, sum, first, last] = [0, 0, 0, -Infinity];
  for (const { startTime, value } of shifts) {
    const isNew = startTime - last > 1_000 || startTime - first > 5_000;
    if (isNew) [sum, first] = [0, startTime];
    sum += value;
    last = startTime;
    layoutShift = Math.max(layoutShift, sum);
  }
  return { ...seen, layoutShift, now: performance.now(), nodes: document.querySelectorAll('*').length };
})()`;
