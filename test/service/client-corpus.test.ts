import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import * as z from 'zod';
import { startSimulator } from '../../local/simulators/server.ts';
import { startGateway } from '../support/gateway.ts';

const FOLDER = join(import.meta.dirname, '../clients/corpus');
/** `WRITE_CORPUS=1` sets `expected` of every entry to the current behavior, for review. */
const isWriting = process.env.WRITE_CORPUS === '1';
const REQUESTS_AT_ONCE = 8;

const expectation = z.strictObject({
  /** Status of the request. A marker in the prompt can make the simulated provider fail. */
  status: z.int(),
  /** `X-Service-Ignored-Parameters`. */
  ignored: z.array(z.string()),
  /** Null if the route places no hold, or the gateway rejects the request. */
  holdUsd: z.string().nullable(),
  /** Field that an error names. */
  param: z.string().nullable().optional(),
});

/** A request of a client to a billed route or to token counting. */
const entrySchema = z.strictObject({
  /** Shown if the entry fails. */
  about: z.string().optional(),
  /** Path with its query. */
  path: z.string().startsWith('/v1'),
  /** Headers that affect the response, such as `anthropic-version` and `anthropic-beta`. Never a credential. */
  headers: z.record(z.string(), z.string()).default({}),
  body: z.record(z.string(), z.unknown()),
  /** Absent in a new capture. */
  expected: expectation.optional(),
});

type Entry = z.output<typeof entrySchema>;
type Expectation = z.output<typeof expectation>;

const vendor = await startSimulator();
const gateway = await startGateway({ vendorUrl: vendor.url, environment: { LOCAL_BALANCE_USD: '1000000' } });
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

const dryRun = z.object({ object: z.literal('dry_run'), hold_usd: z.string() });
const refusal = z.object({ error: z.object({ param: z.string().nullish() }) });
const receipt = z.object({ outcome: z.string(), ignored: z.array(z.string()) });

const ignoredIn = ({ headers }: Response): readonly string[] =>
  headers.get('x-service-ignored-parameters')?.split(',') ?? [];

const send = ({ path, headers, body }: Entry, more: Readonly<Record<string, string>> = {}) =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers, ...credential(path), ...more },
    body: JSON.stringify(body),
  });

const credential = (path: string): Record<string, string> => {
  if (/^\/v1beta\/|^\/v1\/models\//.test(path)) return { 'x-goog-api-key': gateway.apiKey };
  return { authorization: `Bearer ${gateway.apiKey}` };
};

/** Returns the behavior of the gateway: a dry run for the hold, then the request with the simulated provider. */
const replay = async (entry: Entry): Promise<Expectation> => {
  const dry = await send(entry, { 'x-service-dry-run': 'true' });
  const held = dryRun.safeParse(await dry.json()).data;
  const response = await send(entry);
  const text = await response.text();
  const { status } = response;
  if (!dry.ok && dry.status !== status) throw new Error(`a dry run is ${dry.status}, the request ${status}: ${text}`);
  const ignored = ignoredIn(dry);
  if (response.ok) expect(ignoredIn(response)).toEqual(ignored);
  if (response.ok && held) expect(await readReceipt(response)).toEqual({ outcome: 'charged', ignored });
  return {
    status,
    ignored: [...ignored],
    holdUsd: held?.hold_usd ?? null,
    ...(status >= 400 && { param: refusal.parse(JSON.parse(text)).error.param ?? null }),
  };
};

const readReceipt = async ({ headers }: Response) => {
  const found = await fetch(`${gateway.url}/api/usage/${headers.get('x-request-id')}`, {
    headers: { authorization: `Bearer ${gateway.apiKey}` },
  });
  return receipt.parse(await found.json());
};

const replayAll = async (entries: readonly Entry[]): Promise<readonly Entry[]> => {
  const queue = entries.entries();
  const replayed: Entry[] = [];
  const work = async (): Promise<void> => {
    for (const [index, entry] of queue) {
      const expected = await replay(entry).catch((cause: unknown) => {
        throw new Error(`entry ${index} (${entry.about ?? entry.path}) cannot be replayed`, { cause });
      });
      replayed[index] = { ...entry, expected };
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
  return replayed;
};

const files = globSync('*.json', { cwd: FOLDER }).sort();

const readEntries = (file: string): readonly Entry[] =>
  z.array(entrySchema).parse(JSON.parse(readFileSync(join(FOLDER, file), 'utf8')));

test.each(files)('GEN-16 BILL-5 requests of %s have their status, ignored fields and hold', async (file) => {
  const entries = readEntries(file);
  const replayed = await replayAll(entries);
  if (isWriting) writeFileSync(join(FOLDER, file), `${JSON.stringify(replayed, null, 2)}\n`);
  else expect(replayed).toEqual(entries);
});

const withToolResult = /"(tool_call_id|tool_use_id|functionResponse|function_call_output|custom_tool_call_output)"/;

test('GEN-16 the corpus has many clients, every text protocol and tool results', () => {
  const amounts = files.map((file) => readEntries(file).length);
  const bodies = files.flatMap((file) => readEntries(file).map(({ body }) => JSON.stringify(body)));
  const paths = files.flatMap((file) => readEntries(file).map(({ path }) => path));
  expect(amounts.filter((amount) => amount >= 15).length).toBeGreaterThanOrEqual(12);
  expect(bodies.length).toBeGreaterThanOrEqual(300);
  expect(bodies.filter((body) => withToolResult.test(body)).length).toBeGreaterThanOrEqual(150);
  for (const part of ['/chat/completions', '/responses', '/messages', ':generateContent', ':streamGenerateContent'])
    expect(paths.some((path) => path.includes(part))).toBe(true);
});
