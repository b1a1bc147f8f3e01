import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KeyStore } from '../../lambdas/core/accounts/key-store.ts';
import { keyIdOf } from '../../lambdas/core/accounts/keys.ts';
import { changeCap, type KeyCap, keyCapOf } from '../../lambdas/core/ledger/caps.ts';
import { PICOS_PER_USD } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { readAccount } from '../../local/stores/sqlite/account-rows.ts';
import { replaceCaps } from '../../local/stores/sqlite/replace-account.ts';
import { until } from '../support/gateway-process.ts';
import { FORM, goodForms } from '../support/hostile-forms.ts';
import { chat, postRoutes, videos } from '../support/hostile-routes.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process-gateway.ts';
import { openTestDatabase } from '../support/sqlite.ts';
import { rowsOfTier } from '../tiers.ts';

/** Caps of stored keys, by account. */
const caps = new Map<string, KeyCap>();

const withCaps = (keys: KeyStore): KeyStore => ({
  ...keys,
  take: async (...call) => {
    const reply = await keys.take(...call);
    return reply.kind === 'unknown' ? reply : { ...reply, key: { ...reply.key, cap: caps.get(reply.key.accountId) } };
  },
});

let vendor: Simulator;
let gateway: InProcessGateway;
beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startInProcess({ vendorUrl: vendor.url, change: ({ keys }) => ({ keys: withCaps(keys) }) });
});
afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop();
});

/** Opens an account whose API key has a daily cap. */
const openCapped = async (limitPicos: bigint) => {
  const { accountId, apiKey, hash } = await gateway.issue();
  const keyId = keyIdOf(hash);
  const db = await openTestDatabase({ path: gateway.databasePath });
  const after = await db.write(() => {
    const changed = changeCap(readAccount(db, accountId)!, keyId, { limitPicos, kind: 'day' }, gateway.now());
    replaceCaps(db, changed);
    return changed;
  });
  await db.close();
  caps.set(accountId, keyCapOf(after.caps, keyId)!);
  const account = async () => (await gateway.ledger.readAccount(accountId))!;
  return { accountId, apiKey, account, cap: async () => (await account()).caps.get(keyId), limitPicos };
};

const headersOf = (lines: readonly string[]): Record<string, string> =>
  Object.fromEntries(lines.map((line) => line.split(/: (.*)/s).slice(0, 2)));

const forms = [
  ['images with a form', '/v1/images/edits', goodForms.editImages],
  ['transcriptions', '/v1/audio/transcriptions', goodForms.transcribe],
] as const;
const paidRequests = [
  ...postRoutes
    // A moderation costs nothing.
    .filter(({ name, billed }) => billed && name !== 'moderations')
    .map(({ name, target, headers, body }) => ({
      name,
      target,
      headersFor: (apiKey: string) => headersOf(headers(apiKey)),
      body: JSON.stringify(body('hello')),
    })),
  ...forms.map(([name, target, body]) => ({
    name,
    target,
    headersFor: (apiKey: string) => headersOf([`authorization: Bearer ${apiKey}`, FORM]),
    body: new Uint8Array(body ?? []),
  })),
];

test.each(paidRequests)(
  'KEY-9 $name: a hold above the cap of the API key is 402',
  async ({ name, target, headersFor, body }) => {
    const { apiKey, account } = await openCapped(1n);
    const calls = vendor.requests.length;
    const before = await account();
    const response = await fetch(`${gateway.url}${target}`, { method: 'POST', headers: headersFor(apiKey), body });
    const text = await response.text();
    expect([name, response.status, text]).toEqual([name, 402, expect.stringContaining('of the cap of this API key')]);
    expect(text).toContain('The cap resets at 2026-11-21T00:00:00Z.');
    expect([await account(), vendor.requests.length]).toEqual([before, calls]);
  },
);

/** A video takes seconds. */
const charged = rowsOfTier([chat, videos], () => 'one');

test.each(charged)('KEY-9 a charge of $name lowers the cap by its cost', async ({ target, headers, body }) => {
  const { accountId, apiKey, account, cap, limitPicos } = await openCapped(5n * PICOS_PER_USD);
  const init = { method: 'POST', headers: headersOf(headers(apiKey)), body: JSON.stringify(body('hello')) };
  expect((await fetch(`${gateway.url}${target}`, init)).status).toBe(200);
  await until('the end of every hold', async () => ((await account()).holds.size === 0 ? true : undefined));
  const [record] = await gateway.recordsOf(accountId);
  expect([record?.outcome, record?.cap?.period]).toEqual(['settled', (await cap())?.period]);
  expect(record?.amountPicos).toBeGreaterThan(0n);
  expect((await cap())?.leftPicos).toBe(limitPicos - (record?.amountPicos ?? 0n));
  expect((await gateway.audit()).flatMap(({ findings }) => findings)).toEqual([]);
});
