import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashApiKey, makeApiKey } from '../../lambdas/core/accounts/api-key.ts';
import type { KeyStore } from '../../lambdas/core/accounts/key-store.ts';
import { keyIdOf, toNewKey } from '../../lambdas/core/accounts/new-key.ts';
import { rotateKey } from '../../lambdas/core/accounts/rotate-key.ts';
import { AddressLimit } from '../../lambdas/core/limits/address-limit.ts';
import { bucketOf } from '../../lambdas/core/limits/gcra.ts';
import { ProcessBuckets } from '../../lambdas/core/limits/process-buckets.ts';
import { systemClock } from '../../lambdas/functions/wiring/ledger-parts.ts';
import { BodyBudget } from '../../lambdas/http/body-budget.ts';
import { json } from '../../lambdas/http/exchange.ts';
import { openDoor } from '../../lambdas/http/front-door.ts';
import { createHandler } from '../../lambdas/http/handler.ts';
import { functionUrlEvent, invoke } from '../lambdas/http/function-url.ts';
import { conflict, withKeyFaults } from '../support/memory/faults.ts';
import { MemoryAddressCounters } from '../support/memory/memory-address-counters.ts';
import { type AccountSubject, accountNamed, openDatabase } from './account-subjects.ts';

const PEPPER = 'a pepper for tests';
const REQUESTS = 200;
const CHANGES = 20;
const EACH = REQUESTS / CHANGES;
const LANES = 8;

/** No limit is in the way of the race. */
const wide = bucketOf(1_000_000, 1_000_000);

let subject: AccountSubject;
beforeAll(async () => {
  subject = await openDatabase();
});
afterAll(() => subject?.stop());

/** The chain as the functions have it, on the real key store. */
const createGateway = (keys: KeyStore) => {
  const clock = systemClock;
  const handler = createHandler(
    {
      clock,
      newRequestId: () => 'request',
      door: openDoor,
      admission: {
        addressLimit: new AddressLimit(wide, new MemoryAddressCounters(), clock),
        keyBucket: wide,
        keyBuckets: new ProcessBuckets(wide),
        keys,
        pepper: PEPPER,
        olderPeppers: [],
        clock,
      },
      secrets: { botToken: undefined, topUpKey: undefined },
      bodies: new BodyBudget(1_000_000, clock),
      chatLimit: new AddressLimit(wide, new MemoryAddressCounters(), clock),
      finished: () => undefined,
    },
    { getAccount: async () => json(200, {}) },
  );
  return async (apiKey: string): Promise<string> => {
    const event = functionUrlEvent({ path: '/api/account', headers: { authorization: `Bearer ${apiKey}` } });
    const { status, text } = await invoke(handler, event);
    return status === 200 ? 'served' : JSON.parse(text).error.code;
  };
};

const newKeyBytes = () => randomBytes(32);

const openAccount = async (accountId: string): Promise<string> => {
  const apiKey = makeApiKey(newKeyBytes());
  const key = toNewKey(PEPPER, apiKey, true);
  expect(await subject.accounts.open(accountNamed(accountId, { key }))).toBe('opened');
  return apiKey;
};

const rotate = async (accountId: string, apiKey: string): Promise<string> => {
  const ports = { accounts: subject.accounts, clock: systemClock, random: Math.random, pepper: PEPPER, newKeyBytes };
  return (await rotateKey(ports, { accountId, keyId: keyIdOf(hashApiKey(PEPPER, apiKey)) })).apiKey;
};

/** So many requests, some at a time, while the changes go on one after the other; neither gets far ahead of the other. */
const race = async (request: (count: number) => Promise<void>, change: () => Promise<void>): Promise<void> => {
  let begun = 0;
  let changed = 0;
  let failed = false;
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds() && !failed) await sleep(1);
  };
  const lane = async (): Promise<void> => {
    for (let count = begun++; count < REQUESTS && !failed; count = begun++) {
      await until(() => count / EACH <= changed + 1);
      await request(count);
    }
  };
  const changing = async (): Promise<void> => {
    for (; changed < CHANGES && !failed; changed += 1) {
      await until(() => begun >= changed * EACH);
      await change();
    }
  };
  const all = [changing(), ...Array.from({ length: LANES }, lane)];
  for (const one of all) {
    one.catch(() => {
      failed = true;
    });
  }
  await Promise.all(all);
};

/** In the second one every third key update is refused, so that the key is read in its place (LIM-4). */
const stores = [
  { name: 'key updates that all go through', keysOf: (keys: KeyStore): KeyStore => keys },
  {
    name: 'key updates that meet other writes',
    keysOf: (keys: KeyStore): KeyStore =>
      withKeyFaults(keys, (method, turn) => (method === 'take' && turn % 3 === 0 ? conflict : undefined)),
  },
];

test.each(stores)(
  'KEY-2, AUTH-5 once a rotation is answered, no request with the old key is served: $name',
  async (one) => {
    const accountId = `rotated ${one.name}`;
    const ask = createGateway(one.keysOf(subject.keys));
    const issued = [await openAccount(accountId)];
    let begun = 0;
    const seen = { served: 0, refused: 0 };
    const request = async (count: number): Promise<void> => {
      const latest = issued.length - 1;
      // The newest, the one before it, or any that there ever was.
      const place = [latest, Math.max(0, latest - 1), count % issued.length][count % 3] ?? latest;
      const answer = await ask(issued[place] ?? '');
      if (place < latest) expect([place, latest, answer]).toEqual([place, latest, 'revoked_api_key']);
      if (begun === place) expect([place, answer]).toEqual([place, 'served']);
      expect(['served', 'revoked_api_key']).toContain(answer);
      seen[answer === 'served' ? 'served' : 'refused'] += 1;
    };
    await race(request, async () => {
      begun += 1;
      const apiKey = await rotate(accountId, issued.at(-1) ?? '');
      issued.push(apiKey);
    });
    expect(issued).toHaveLength(CHANGES + 1);
    for (const [place, apiKey] of issued.entries()) {
      expect([place, await ask(apiKey)]).toEqual([place, place === CHANGES ? 'served' : 'revoked_api_key']);
    }
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(CHANGES);
  },
);

test.each(stores)(
  'AUTH-4, OPS-5 once a block is answered, no request is served, and once it is lifted, all are: $name',
  async (one) => {
    const accountId = `blocked ${one.name}`;
    const ask = createGateway(one.keysOf(subject.keys));
    const apiKey = await openAccount(accountId);
    const hash = hashApiKey(PEPPER, apiKey);
    // Odd: a change is under way. Then, by turns, free and blocked.
    let state = 0;
    const seen = { served: 0, account_blocked: 0 };
    const request = async (): Promise<void> => {
      const before = state;
      const answer = await ask(apiKey);
      if (before === state && before % 2 === 0) {
        expect([before, answer]).toEqual([before, before % 4 === 0 ? 'served' : 'account_blocked']);
      }
      expect(Object.keys(seen)).toContain(answer);
      seen[answer === 'served' ? 'served' : 'account_blocked'] += 1;
    };
    await race(request, async () => {
      const isBlocked = state % 4 === 0;
      state += 1;
      expect(await subject.accounts.setBlocked(accountId, isBlocked, hash)).toBe('set');
      state += 1;
    });
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(CHANGES);
  },
);

test('KEY-2, OPS-5 rotations while the account is blocked: the last word is that nobody is served', async () => {
  for (let round = 1; round <= 10; round += 1) {
    const accountId = `blocked-while-rotating-${round}`;
    const ask = createGateway(subject.keys);
    const issued = [await openAccount(accountId)];
    const rotating = async (): Promise<void> => {
      while (issued.length < 100) issued.push(await rotate(accountId, issued.at(-1) ?? ''));
    };
    const stopped = rotating().catch((error: { code?: string }) => error.code);
    for (let reply = 'changed'; reply === 'changed'; ) {
      const current = await subject.accounts.currentKey(accountId);
      reply = await subject.accounts.setBlocked(accountId, true, current?.hash);
    }
    const known = issued.length;
    for (const apiKey of issued) expect(await ask(apiKey)).not.toBe('served');
    expect(await stopped).toBe('account_blocked');
    expect(issued.length - known).toBeLessThanOrEqual(1);
    const answers = await Promise.all(issued.map(ask));
    expect(answers).toEqual([...Array(issued.length - 1).fill('revoked_api_key'), 'account_blocked']);
  }
});
