import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formatUsd, PICOS_PER_USD, parseUsd } from '../lambdas/core/money/usd.ts';
import { type InProcessGateway, startInProcess } from '../test/support/in-process-gateway.ts';

// Six scripts try for a week to use a gateway without a charge (BILL-21). Each has an account of its own. Prints what
// each account cost the gateway per UTC day, and the limit: one wave within its balance, then ten allowances a day and
// what was open then. Exit code 1 if one is above its limit.

const ALLOWANCE = PICOS_PER_USD;
const BALANCE_USD = '50';
const DAYS = 7;
const DAY_MS = 86_400_000;
/** Requests that one script sends in a wave. */
const WAVE = 8;
/** Waves that a script tries on a day. */
const WAVES = 12;

const post = async (gateway: InProcessGateway, apiKey: string, path: string, body: object): Promise<number> => {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const response = await fetch(`${gateway.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  await response.arrayBuffer().catch(() => undefined);
  return response.status;
};

interface Script {
  readonly name: string;
  readonly path: string;
  body(index: number): object;
}

const chat = (model: string, mark: string, max_tokens: number) => ({
  ...{ model, max_tokens, stream: mark === 'CUT' },
  messages: [{ role: 'user', content: mark }],
});
const path = '/v1/chat/completions';
const scripts: readonly Script[] = [
  { name: 'streams until the deadline', path, body: () => chat('gpt-5.5', 'CUT', 128_000) },
  { name: 'small streams until the deadline', path, body: () => chat('gpt-5.5', 'CUT', 8_192) },
  { name: 'large and small in turn', path, body: (index) => chat('gpt-5.5', 'CUT', index % 2 === 0 ? 64_000 : 8_000) },
  { name: 'silence until the deadline', path, body: () => chat('gpt-5.5', 'SILENT', 128_000) },
  { name: 'tool calls that break off', path, body: () => chat('gemini-3.8-flash', 'BREAKS', 64_000) },
  {
    name: 'speech until the deadline',
    path: '/v1/audio/speech',
    body: () => ({ model: 'tts-1-hd', voice: 'alloy', input: 'a'.repeat(4_000) }),
  },
];

/** Plays each script's provider: the mark in the prompt says how. */
const serveProvider = async () => {
  const words = 'word '.repeat(200);
  const event = { ...{ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' } };
  const delta = { ...event, choices: [{ index: 0, delta: { content: words }, finish_reason: null }] };
  const broken = {
    candidates: [{ finishReason: 'UNEXPECTED_TOOL_CALL', index: 0, content: {} }],
    usageMetadata: { promptTokenCount: 20, thoughtsTokenCount: 60_000, totalTokenCount: 60_020 },
    responseId: 'r1',
  };
  const answer = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    if (request.url?.includes('/audio/')) {
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).write(Buffer.alloc(5_000, 0x55));
    } else if (body.includes('BREAKS')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(broken));
    } else if (body.includes('CUT')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let sent = 0; sent < 60_000; sent += 200) response.write(`data: ${JSON.stringify(delta)}\n\n`);
    }
  };
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => answer(request, response, Buffer.concat(pieces).toString()));
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const provider = await serveProvider();
const midnight = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
const startedAt = performance.now();
let dayMs = midnight;
const gateway = await startInProcess({
  vendorUrl: provider.url,
  environment: { UPSTREAM_DEADLINE_SECONDS: '2', UNCOLLECTED_DAILY_USD: formatUsd(ALLOWANCE) },
  now: () => dayMs + Math.floor(performance.now() - startedAt),
});

const accounts = await Promise.all(
  scripts.map(async (script) => ({ script, ...(await gateway.issue({ balanceUsd: BALANCE_USD })) })),
);
type Attacker = (typeof accounts)[number];

interface Day {
  readonly statuses: Readonly<Record<string, number>>;
  /** Largest sum of the open holds, in pico-USD. */
  readonly openPicos: bigint;
  /** Pico-USD. */
  readonly costPicos: bigint;
}

const costOf = async ({ accountId }: Attacker): Promise<bigint> =>
  (await gateway.recordsOf(accountId)).reduce((sum, { uncollectedPicos = 0n }) => sum + uncollectedPicos, 0n);

const heldOf = async ({ accountId }: Attacker): Promise<bigint> => {
  const { holds } = (await gateway.ledger.readAccount(accountId))!;
  return [...holds.values()].reduce((sum, { amountPicos }) => sum + amountPicos, 0n);
};

/** Sends waves until the allowance of the day rejects a whole one. */
const attack = async (attacker: Attacker): Promise<Day> => {
  const before = await costOf(attacker);
  const statuses: Record<string, number> = {};
  let openPicos = 0n;
  for (let wave = 0; wave < WAVES; wave += 1) {
    const sent = Array.from({ length: WAVE }, (_, index) =>
      post(gateway, attacker.apiKey, attacker.script.path, attacker.script.body(index)),
    );
    const watch = setInterval(async () => {
      const held = await heldOf(attacker);
      if (held > openPicos) openPicos = held;
    }, 100);
    const replies = await Promise.all(sent);
    clearInterval(watch);
    for (const status of replies) statuses[status] = (statuses[status] ?? 0) + 1;
    if (replies.every((status) => status === 429)) break;
  }
  return { statuses, openPicos, costPicos: (await costOf(attacker)) - before };
};

let isExceeded = false;
const weeks = accounts.map((attacker) => ({ attacker, days: [] as Day[] }));
for (let day = 0; day < DAYS; day += 1) {
  dayMs = midnight + day * DAY_MS - Math.floor(performance.now() - startedAt);
  await Promise.all(weeks.map(async ({ attacker, days }) => days.push(await attack(attacker))));
}
for (const { attacker, days } of weeks) {
  console.log(attacker.script.name);
  for (const [index, { statuses, openPicos, costPicos }] of days.entries()) {
    const wave = index === 0 ? parseUsd(BALANCE_USD) : 0n;
    const limit = wave + 10n * ALLOWANCE + openPicos;
    if (costPicos > limit) isExceeded = true;
    const usd = (picos: bigint): string => formatUsd(picos).padStart(12);
    console.log(`  day ${index + 1}  cost ${usd(costPicos)}  open ${usd(openPicos)}  limit ${usd(limit)}`, statuses);
  }
  const total = days.reduce((sum, { costPicos }) => sum + costPicos, 0n);
  console.log(`  week   cost ${formatUsd(total)} USD`);
}
await gateway.stop();
provider.stop();
process.exit(isExceeded ? 1 : 0);
