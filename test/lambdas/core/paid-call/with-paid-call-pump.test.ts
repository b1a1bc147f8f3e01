import { expect, test } from 'vitest';
import { placeHold } from '../../../../lambdas/core/ledger/hold.ts';
import type { Caller } from '../../../../lambdas/core/paid-call/dependencies.ts';
import {
  type PaidCall,
  pump,
  type StreamSink,
  type StreamSource,
} from '../../../../lambdas/core/paid-call/with-paid-call.ts';
import { ACCOUNT, createWorld, GRACE_MS, REQUEST } from '../text/text-world.ts';

const AMOUNT = 40n;

interface Sink extends StreamSink<string> {
  write(piece: string): void;
}

type Source = StreamSource<string, Sink>;

/** Pumps one stream and returns the log of its steps, in order. */
const pumped = async (source: Partial<Source>, sink: Partial<Sink> = {}, report?: () => Promise<void>) => {
  const world = await createWorld();
  const { log, deps } = world;
  const caller: Pick<Caller, 'accountId' | 'requestId'> = { accountId: ACCOUNT, requestId: REQUEST };
  const hold = { ...caller, amountPicos: AMOUNT, expiresAtMs: world.clock.now() + GRACE_MS };
  const paid: PaidCall = {
    modelId: 'alpha-1',
    endUser: undefined,
    placedHold: await placeHold(deps.ledger, hold),
    permit: {
      kind: 'permit',
      report: async (outcome) => {
        log.push(`report ${outcome}`);
        if (outcome === 'succeeded') await report?.();
      },
      started: async () => undefined,
    },
    chargeFor: () => ({ amountPicos: AMOUNT, prices: {}, usage: {}, implausible: false }),
    expectsUsage: false,
    deadline: { stop: () => void log.push('stop') },
  };
  const logging: Sink = {
    write: (piece) => void log.push(`write ${piece}`),
    finish: (last) => void log.push(`finish ${last}`),
    fail: (error) => void log.push(`fail ${error.code}`),
    close: (receipt) => void log.push(`end ${receipt?.costPicos}`),
    ...sink,
  };
  const whole: Source = {
    forward: async (to) => {
      to.write('one');
      return { last: 'two', usage: undefined };
    },
    close: () => void log.push('close'),
    deadline: 'until-charged',
    ...source,
  };
  await pump(deps, paid, whole, logging);
  return { log, account: await world.account() };
};

const charged = ['putRecord', 'finish two', 'apply', 'report succeeded'];

test('LIM-6 an `until-charged` deadline stops after the account update', async () => {
  const { log } = await pumped({ deadline: 'until-charged' });
  expect(log).toEqual(['hold', 'write one', ...charged, 'stop', 'close', 'end 40']);
});

test('LIM-6 an `until-last-byte` deadline stops before the charge is committed', async () => {
  const { log } = await pumped({ deadline: 'until-last-byte' });
  expect(log).toEqual(['hold', 'write one', 'stop', ...charged, 'stop', 'close', 'end 40']);
});

test('BILL-9 the hold of a source that throws is released before the sink gets the error', async () => {
  const { log, account } = await pumped({ forward: () => Promise.reject(new Error('broken')) });
  expect(log).toEqual([
    'hold',
    'report unknown',
    'putRecord',
    'apply',
    'fail internal_error',
    'stop',
    'close',
    'end undefined',
  ]);
  expect([account.spentPicos, account.holds.size]).toEqual([0n, 0]);
});

test('BILL-9 a sink that throws at its last piece gets an error event', async () => {
  const { log, account } = await pumped(
    {},
    {
      finish: () => {
        throw new Error('a bug of the renderer');
      },
    },
  );
  expect(log.slice(-4)).toEqual(['fail internal_error', 'stop', 'close', 'end 40']);
  expect([account.spentPicos, account.holds.size]).toEqual([AMOUNT, 0]);
});

test('BILL-9 a failure after the last piece sends nothing more', async () => {
  const { log, account } = await pumped({}, {}, () => Promise.reject(new Error('a bug of the circuit')));
  expect(log.filter((entry) => entry.startsWith('fail'))).toEqual([]);
  expect(log.slice(-3)).toEqual(['stop', 'close', 'end 40']);
  expect(account.spentPicos).toBe(AMOUNT);
});
