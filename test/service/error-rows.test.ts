import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { HOLDS_MAX } from '../../lambdas/core/ledger/ledger.ts';
import { PICOS_PER_USD as USD } from '../../lambdas/core/money/usd.ts';
import { CENT, openCircuit, sendTo } from '../support/circuit-hostile.ts';
import { dear, hasLength, keyed, type Refusal, refusals, served, type Way, ways } from '../support/error-rows-table.ts';
import { within } from '../support/gateway-process.ts';
import { moneyOf, readError } from '../support/hostile-oracle.ts';
import { namesModelInPath } from '../support/hostile-routes.ts';
import type { Holder, InProcessGateway, InProcessOptions } from '../support/in-process-gateway.ts';
import { rowsOfTier } from '../tiers.ts';
import { circuitSuite } from './circuit-hostile-suite.ts';

const { open, vendor } = circuitSuite();

interface Scene {
  readonly way: Way;
  readonly gateway: InProcessGateway;
  readonly accountId: string;
  readonly apiKey: string;
  /** Sends a valid request with these changes. Either this request is rejected, or it prepares a later rejection. */
  send(headers?: readonly string[], members?: object, target?: string): ReturnType<typeof sendTo>;
}

const stage = async (way: Way, options: Partial<InProcessOptions> = {}, holder: Holder = {}): Promise<Scene> => {
  const gateway = await open(options);
  const issued = await gateway.issue(holder);
  const send: Scene['send'] = (headers = [], members = {}, target = way.route.target) =>
    sendTo(gateway, way.route, issued.apiKey, { headers, body: { ...way.members, ...members }, target });
  return { way, gateway, ...issued, send };
};

/** Checks the exact error, and that it caused no charge, no hold and no provider call. */
const expectRefusal = async (
  { way, gateway, accountId }: Scene,
  refusal: Refusal,
  asking: () => ReturnType<typeof sendTo>,
) => {
  const before = await gateway.ledger.readAccount(accountId);
  const calls = vendor().requests.length;
  const { reply } = await asking();
  const { code, type, param } = readError(reply, way.route.shape);
  const retryAfter = reply.headers.get('retry-after') ?? null;
  expect({ status: reply.status, code, type, param, retryAfter }).toEqual(refusal);
  expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  for (const name of ['x-service-cost-usd', 'x-service-balance-usd', 'x-service-model-used', 'idempotent-replayed'])
    expect(reply.headers.has(name), name).toBe(false);
  const after = await gateway.ledger.readAccount(accountId);
  expect([after?.availablePicos, after?.spentPicos, after?.holds]).toEqual([
    before?.availablePicos,
    before?.spentPicos,
    before?.holds,
  ]);
  expect(vendor().requests).toHaveLength(calls);
};

const table = (
  rule: string,
  refusal: keyof typeof refusals,
  fits: (way: Way) => boolean,
  play: (way: Way) => Promise<void>,
) => {
  const { code, status } = refusals[refusal];
  const rows = rowsOfTier(ways.filter(fits), ({ route }) => route.shape);
  test.each(rows.map((way) => ({ way, to: way.name })))(
    `${rule} ERR-1 ERR-2 ${refusal} of $to: ${status} ${code}, free of charge`,
    ({ way }) => play(way),
  );
};
const all = (): boolean => true;

table(
  'IDEM-5',
  'keyNotServed',
  (way) => !keyed(way),
  async (way) => {
    const scene = await stage(way);
    await expectRefusal(scene, refusals.keyNotServed, () => scene.send(['idempotency-key: a']));
  },
);

table('IDEM-6', 'keyMalformed', all, async (way) => {
  const scene = await stage(way);
  for (const key of ['', 'a b', 'x'.repeat(256), '\xe9'])
    await expectRefusal(scene, refusals.keyMalformed, () => scene.send([`idempotency-key: ${key}`]));
});

table('IDEM-3', 'keyMismatch', keyed, async (way) => {
  const scene = await stage(way);
  const key = ['idempotency-key: a'];
  expect((await scene.send(key)).outcome).toBe('200');
  const others = [
    () => scene.send(key, { user: 'another' }),
    () => scene.send(key, { unknown: 1 }),
    () => scene.send([...key, 'x-service-fallback-model: gpt-6-luna']),
  ];
  for (const asking of others) await expectRefusal(scene, refusals.keyMismatch, asking);
});

table('IDEM-4', 'keyInProgress', keyed, async (way) => {
  const scene = await stage(way);
  const gate = vendor().gate();
  const first = scene.send(['idempotency-key: a']);
  await within('the first call', gate.waitFor(1));
  await expectRefusal(scene, refusals.keyInProgress, () => scene.send(['idempotency-key: a']));
  gate.open();
  expect((await first).outcome).toBe('200');
});

table('IDEM-7', 'keyExhausted', keyed, async (way) => {
  const scene = await stage(way, { environment: { CIRCUIT_FAILURES: '100', CIRCUIT_CALLS: '100' } });
  vendor().setScenario(() => ({ refusal: { kind: 'status', status: 500 } }));
  for (let turn = 0; turn < 6; turn += 1) {
    expect((await scene.send(['idempotency-key: a'])).outcome).toBe('502 upstream_error');
  }
  await expectRefusal(scene, refusals.keyExhausted, async () => {
    const failed = await scene.send(['idempotency-key: a']);
    expect(failed.reply.headers.get('x-should-retry')).toBe('false');
    return failed;
  });
  expect(await moneyOf(scene.gateway, scene.accountId)).toMatchObject({ spent: 0n });
});

table('FALL-4', 'noReserve', all, async (way) => {
  const scene = await stage(way);
  for (const id of ['no-such-model', way.route.model, 'gpt-6-luna, gpt-5.6-luna', 'claude-haiku-4-5', ''])
    await expectRefusal(scene, refusals.noReserve, () => scene.send([`x-service-fallback-model: ${id}`]));
});

table('BILL-16', 'noDryRun', all, async (way) => {
  const scene = await stage(way);
  for (const value of ['', 'yes', 'TRUE', '1', 'true, true'])
    await expectRefusal(scene, refusals.noDryRun, () => scene.send([`x-service-dry-run: ${value}`]));
});

table('FALL-5', 'circuitOpen', all, async (way) => {
  let now = Date.UTC(2026, 10, 20);
  const scene = await stage(way, { now: () => now });
  await openCircuit(scene.gateway, way.route);
  const headers = keyed(way) ? ['idempotency-key: a'] : [];
  await expectRefusal(scene, refusals.circuitOpen, () => scene.send());
  await expectRefusal(scene, refusals.circuitOpen, () => scene.send(headers));
  await expectRefusal(scene, refusals.circuitOpen, () => scene.send(['x-service-dry-run: true']));
  if (hasLength(way)) await expectRefusal(scene, refusals.circuitOpen, () => scene.send([], dear(way)));
  now += 29_001;
  await expectRefusal(scene, refusals.circuitAlmost, () => scene.send(headers));
  now += 999;
  // A probe is in progress.
  const gate = vendor().gate();
  const probe = scene.send(headers);
  await within('the probe', gate.waitFor(1));
  await expectRefusal(scene, refusals.circuitAlmost, () => scene.send());
  gate.open();
  expect((await probe).outcome).toBe('200');
});

table('LIM-8', 'holds', all, async (way) => {
  const scene = await stage(way, {}, { balanceUsd: '9' });
  const { gateway, accountId } = scene;
  const each = { accountId, amountPicos: CENT, expiresAtMs: 0, sweepAtMs: 0, previousHoldId: undefined };
  for (let held = 0; held < HOLDS_MAX; held += 1) await gateway.ledger.hold({ ...each, holdId: `${ulid()}.0` });
  await expectRefusal(scene, refusals.holds, () => scene.send());
});

table('BILL-21', 'allowance', hasLength, async (way) => {
  let now = Date.UTC(2026, 10, 20, 23, 59);
  const scene = await stage(way, { now: () => now });
  const { gateway, accountId } = scene;
  const hold = { accountId, holdId: `${ulid()}.0`, amountPicos: 10n * USD, expiresAtMs: 0, sweepAtMs: 0 };
  const record = { accountId, holdId: hold.holdId, requestId: hold.holdId.slice(0, -2), outcome: 'released' } as const;
  const used = { ...record, amountPicos: 0n, at: now, uncollectedPicos: 10n * USD, usesAllowance: true };
  await gateway.ledger.hold({ ...hold, previousHoldId: undefined });
  await gateway.ledger.apply(used, hold.amountPicos, now);
  await expectRefusal(scene, refusals.allowance, () => scene.send());
  if (keyed(way)) await expectRefusal(scene, refusals.allowance, () => scene.send(['idempotency-key: a']));
  expect((await scene.send(['x-service-dry-run: true'])).outcome).toBe('200');
  now += 60_000;
  expect((await scene.send()).outcome).toBe('200');
});

table('LIM-2', 'keyRate', all, async (way) => {
  const scene = await stage(way, { environment: { LIMIT_KEY_PER_SECOND: '1', LIMIT_KEY_BURST: '1' } });
  expect((await scene.send(['x-service-dry-run: true'])).outcome).toBe('200');
  await expectRefusal(scene, refusals.keyRate, () => scene.send());
});

table('AUTH-4', 'noMoney', all, async (way) => {
  const scene = await stage(way, {}, { balanceUsd: '0' });
  await expectRefusal(scene, refusals.noMoney, () => scene.send());
  if (keyed(way)) await expectRefusal(scene, refusals.noMoney, () => scene.send(['idempotency-key: a']));
});

table('AUTH-4', 'blocked', all, async (way) => {
  const scene = await stage(way, {}, { blocked: true });
  await expectRefusal(scene, refusals.blocked, () => scene.send());
});

table('CAT-6', 'noModel', all, async (way) => {
  const scene = await stage(way);
  const { route } = way;
  const elsewhere = namesModelInPath(route) ? {} : { model: 'no-such-model' };
  const target = route.target.replace(route.model, 'no-such-model');
  const reserve = served(way) ? ['x-service-fallback-model: gpt-6-luna'] : [];
  await expectRefusal(scene, refusals.noModel, () => scene.send(reserve, elsewhere, target));
});

table('GEN-9', 'unknownField', all, async (way) => {
  const scene = await stage(way);
  await expectRefusal(scene, refusals.unknownField, () => scene.send([], { modell: 1 }));
});

table('ERR-2', 'modelShut', all, async (way) => {
  const scene = await stage(way, { vendorUrl: undefined });
  await expectRefusal(scene, refusals.modelShut, () => scene.send());
});

/** Selects response forms for the test of missing usage: plain responses of endpoints that are not free. */
const counted = ({ route, streams }: Way): boolean => route.name !== 'moderations' && !streams;

table('BILL-10', 'modelShut', counted, async (way) => {
  const scene = await stage(way);
  vendor().setScenario(() => ({ noUsage: true }));
  for (let answer = 0; answer < 19; answer += 1) expect((await scene.send()).outcome).toBe('200');
  // One account alone does not disable a model.
  const { apiKey } = await scene.gateway.issue();
  expect((await sendTo(scene.gateway, way.route, apiKey, { body: way.members })).outcome).toBe('200');
  await expectRefusal(scene, refusals.modelShut, () => scene.send());
  expect(await moneyOf(scene.gateway, scene.accountId)).toMatchObject({ spent: 0n });
});
