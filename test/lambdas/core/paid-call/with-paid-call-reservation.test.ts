import { expect, test } from 'vitest';
import type { Circuits } from '../../../../lambdas/core/circuit/circuit.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { FundedAccounts } from '../../../../lambdas/core/limits/funded-accounts.ts';
import type { UncollectedOf } from '../../../../lambdas/core/paid-call/call-report.ts';
import { withReservation } from '../../../../lambdas/core/paid-call/with-paid-call.ts';
import { ACCOUNT, createWorld, GRACE_MS, REQUEST } from '../text/text-world.ts';

const refused = new GatewayError('upstream_error', 'refused');

/** Runs `withReservation` once and returns the log of its steps, in order. */
const reserved = async (
  use: () => Promise<string>,
  options: {
    readonly withdraw?: (error: unknown) => Promise<unknown>;
    readonly amountPicos?: bigint;
    readonly uncollected?: UncollectedOf;
    /** Whether the account is known to have a balance. */
    readonly isFunded?: boolean;
  } = {},
) => {
  const log: string[] = [];
  const circuits: Circuits = {
    peek: () => undefined,
    acquire: async () => ({
      kind: 'permit',
      report: async (outcome) => void log.push(`report ${outcome}`),
      started: async () => undefined,
    }),
    usageMissing: async () => undefined,
  };
  const world = await createWorld({
    circuits,
    fault: (method) => {
      log.push(method);
      return undefined;
    },
  });
  const model = world.deps.catalog.find('alpha-1', 0);
  if (!model) throw new Error('the model is missing');
  const first = {
    model,
    circuit: { providerId: 'openai', modelId: model.id },
    uncollected: options.uncollected,
    hold: { amountPicos: options.amountPicos ?? 40n, expiresAtMs: world.clock.now() + GRACE_MS },
    deadline: {
      expiresAtMs: 0,
      start: () => AbortSignal.abort(),
      hasCut: () => false,
      started: () => undefined,
      progressed: () => undefined,
      stop: () => void log.push('stop'),
    },
  };
  const caller = { accountId: ACCOUNT, requestId: REQUEST, hostEndsAtMs: undefined };
  const funded = new FundedAccounts(world.clock);
  if (options.isFunded) funded.mark({ accountId: ACCOUNT, amountPicos: 1n });
  const deps = { ...world.deps, funded };
  const result = await withReservation(deps, caller, { first, withdraw: options.withdraw }, async () => {
    log.push('use');
    return use();
  }).catch((error: unknown) => error);
  const { holds, spentPicos } = await world.account();
  return { log, result, isFunded: funded.has(ACCOUNT), open: holds.size, spentPicos, records: world.records() };
};

test('BILL-1 the hold is placed before the call and stays open after it', async () => {
  const { log, result, open } = await reserved(async () => 'done');
  expect([log, result, open]).toEqual([['hold', 'use'], 'done', 1]);
});

test('GEN-14 an account is known to have a balance from a placed hold to a rejected one', async () => {
  expect((await reserved(() => Promise.reject(refused))).isFunded).toBe(true);
  expect((await reserved(async () => 'done', { amountPicos: 10n ** 18n, isFunded: true })).isFunded).toBe(false);
});

test('BILL-2 a call that throws stops its deadline, reports to the circuit and releases its hold', async () => {
  const { log, result, open, spentPicos, records } = await reserved(() => Promise.reject(refused));
  expect(result).toBe(refused);
  expect(log).toEqual(['hold', 'use', 'stop', 'report failed', 'putRecord', 'apply']);
  expect([open, spentPicos]).toEqual([0, 0n]);
  expect(records).toMatchObject([{ outcome: 'released', reason: 'upstream_error', model: 'alpha-1' }]);
});

test('ERR-10 the circuit ignores an error that concerns one of several credentials', async () => {
  const error = new GatewayError('upstream_capacity', 'limited', { ignoredByCircuit: true });
  expect((await reserved(() => Promise.reject(error))).log).toContain('report unknown');
  expect(error.upstreamFailed).toBe(true);
});

test('BILL-2 a failed call is withdrawn before its release and ends with the withdrawal error', async () => {
  const other = new GatewayError('service_unavailable', 'another');
  const undone: unknown[] = [];
  const { result, open, records } = await reserved(() => Promise.reject(refused), {
    withdraw: async (error) => {
      undone.push(error);
      return other;
    },
  });
  expect([undone, result, open]).toEqual([[refused], other, 0]);
  expect(records).toMatchObject([{ outcome: 'released', reason: 'service_unavailable' }]);
});

test('BILL-13 a failed call that cannot be withdrawn keeps its hold until the expiry', async () => {
  const bug = new TypeError('a bug of the store');
  const { log, result, open } = await reserved(() => Promise.reject(refused), { withdraw: () => Promise.reject(bug) });
  expect([log, result, open]).toEqual([['hold', 'use', 'stop'], bug, 1]);
});

test('BILL-2, BILL-21 an estimate of the cost that fails does not keep the hold', async () => {
  const uncollected = () => {
    throw new RangeError('bug');
  };
  const { result, open, records } = await reserved(() => Promise.reject(refused), { uncollected });
  expect([result, open]).toEqual([refused, 0]);
  expect(records).toMatchObject([{ outcome: 'released', reason: 'upstream_error' }]);
});
