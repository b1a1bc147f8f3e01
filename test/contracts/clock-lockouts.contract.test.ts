import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { createAccountKey } from '../../lambdas/core/accounts/account-keys.ts';
import { admit } from '../../lambdas/core/accounts/admit.ts';
import { keyIdOf, makeKey } from '../../lambdas/core/accounts/keys.ts';
import { createCircuits } from '../../lambdas/core/circuit/breaker.ts';
import { circuitDefaults, openedAgain } from '../../lambdas/core/circuit/circuit.ts';
import { GatewayError } from '../../lambdas/core/errors/gateway-error.ts';
import { answerOnce } from '../../lambdas/core/idempotency/claim.ts';
import { placeHold } from '../../lambdas/core/ledger/hold.ts';
import { release } from '../../lambdas/core/ledger/release.ts';
import { apply, commit } from '../../lambdas/core/ledger/resolve.ts';
import { ServedHolds } from '../../lambdas/core/ledger/served-holds.ts';
import { sweep } from '../../lambdas/core/ledger/sweep.ts';
import { AddressLimit, bucketOf, ProcessBuckets } from '../../lambdas/core/limits/rate-limit.ts';
import { renderRequestId } from '../../lambdas/core/request-id.ts';
import { MemoryAnswerStore } from '../support/memory/memory-answer-store.ts';
import { MemoryOutbox } from '../support/memory/memory-outbox.ts';
import { rowsOfTier } from '../tiers.ts';
import { accountNamed, accountSubjects, audit } from './account-subjects.ts';
import { circuitSubjects } from './circuit-subjects.ts';
import { claimSubjects } from './claim-subjects.ts';
import { limitSubjects } from './limit-subjects.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 10, 20, 12);

/** Longest wait that a step of the clock may add, in seconds. */
const ADDED_SECONDS_MAX = 10;
const LEASE_SECONDS = 60;
const HOLD_SECONDS = 120;
const SHORTEST_HOLD_SECONDS = 60;
const OPENING_SECONDS = 30;
const QUARANTINE_SECONDS = 900;

const steps = {
  '-1 h': -HOUR_MS,
  '-30 d': -30 * DAY_MS,
  '-10 s': -10 * SECOND_MS,
  '-1 s': -SECOND_MS,
  '+1 h': HOUR_MS,
  '+40 d': 40 * DAY_MS,
};

/** The database is slow, so its quick tier has one step in each direction. */
const stepsFor = (store: string) =>
  rowsOfTier(Object.entries(steps), ([label, stepMs]) => (store === 'on the database' ? String(stepMs > 0) : label));

/** What can reject a caller for a time. */
interface Guard {
  /** Longest wait of a caller while no clock steps, in seconds. */
  readonly seconds: number;
  /** Time between two requests of a waiting caller, in seconds. */
  readonly everySeconds: number;
  /** Makes the guard store a time of the present clock. */
  use(): Promise<unknown>;
  isServed(): Promise<boolean>;
}

const subjects = accountSubjects.map(({ name, open }, index) => ({
  name,
  open: async (clock: WorldClock) => {
    const [circuits, claims, limits] = [circuitSubjects[index], claimSubjects[index], limitSubjects[index]];
    if (!circuits || !claims || !limits) throw new Error(`a store ${name} is missing`);
    const { store: circuitStore } = await circuits.open();
    const { store: claimStore } = await claims.open();
    const { counters } = await limits.open();
    return createWorld(clock, { ...(await open()), circuitStore, claimStore, counters });
  },
}));

/** Clock that only the test moves. Timers never end, so no process renews a lease, and no slow store is given up. */
class WorldClock {
  ms = START_MS;
  /** Time that no step changes, in ms. */
  passedMs = 0;

  now(): number {
    return this.ms;
  }

  after(): () => void {
    return () => undefined;
  }

  wait(seconds: number): void {
    this.ms += seconds * SECOND_MS;
    this.passedMs += seconds * SECOND_MS;
  }
}

type Stores = Awaited<ReturnType<(typeof accountSubjects)[number]['open']>> & {
  readonly circuitStore: Awaited<ReturnType<(typeof circuitSubjects)[number]['open']>>['store'];
  readonly claimStore: Awaited<ReturnType<(typeof claimSubjects)[number]['open']>>['store'];
  readonly counters: Awaited<ReturnType<(typeof limitSubjects)[number]['open']>>['counters'];
};

const isError = (error: unknown): false => {
  if (!(error instanceof GatewayError)) throw error;
  return false;
};

let worlds = 0;

const createWorld = async (clock: WorldClock, stores: Stores) => {
  const secret = { pepper: 'a pepper for tests', newKeyBytes: () => randomBytes(32) };
  const bucket = bucketOf(10, 15);
  let ids = 0;
  const newId = (): number => {
    ids += 1;
    return ids;
  };
  const newRequestId = () => renderRequestId({ atMs: clock.now(), random: newId() });
  const ledger = {
    store: stores.ledger,
    outbox: new MemoryOutbox(),
    clock,
    random: () => 0,
    shortestLifetimeMs: SHORTEST_HOLD_SECONDS * SECOND_MS,
  };
  const first = makeKey(secret, true);
  const openAccount = async (creditPicos: bigint, key = first.key) => {
    worlds += 1;
    const accountId = `world-${worlds}`;
    await stores.accounts.open(accountNamed(accountId, { key, creditPicos, atMs: clock.now() }));
    return accountId;
  };
  const accountId = await openAccount(1_000_000n);

  const admission = {
    ...secret,
    olderPeppers: [],
    keys: stores.keys,
    records: stores.records,
    clock,
    keyBucket: bucket,
    keyBuckets: new ProcessBuckets(bucket),
    addressLimit: new AddressLimit(bucket, stores.counters, clock),
  };
  const send = (credential: string, address?: string) =>
    admit(admission, address, { credential, param: 'Authorization', advice: '' }).catch(isError);
  const createKey = async (change: object) => {
    const catalog = { find: () => undefined, explainMissing: () => '' };
    const deps = { ...secret, keys: stores.keys, ledgerStore: stores.ledger, catalog, keyBucket: bucket, clock };
    const caller = { accountId, actor: 'owner' } as const;
    return createAccountKey({ ...deps, random: () => 0 }, caller, { name: `key-${newId()}`, ...change });
  };

  const hold = async (order: object = {}, owner = accountId) =>
    placeHold(ledger, {
      accountId: owner,
      requestId: newRequestId(),
      amountPicos: 10n,
      expiresAtMs: clock.now() + HOLD_SECONDS * SECOND_MS,
      ...order,
    });
  /** Whether a hold with these conditions is placed. It is released again. */
  const isHeld = async (order: object, owner = accountId): Promise<boolean> => {
    const placed = await hold(order, owner).catch(isError);
    if (placed) await release(ledger, placed, { reason: 'test' });
    return placed !== false;
  };

  const busyKey = async (): Promise<Guard> => {
    const { apiKey } = await createKey({});
    const use = async () => {
      for (let count = 0; count < 17; count += 1) await send(apiKey, '192.0.2.1');
    };
    return { seconds: 0, everySeconds: 1, use, isServed: async () => (await send(apiKey, '192.0.2.1')) !== false };
  };

  const slowKey = async (): Promise<Guard> => {
    const { apiKey } = await createKey({ rate: 0.1 });
    return {
      // Its next request is always 10 s after the last one.
      seconds: 0,
      everySeconds: 1,
      use: () => send(apiKey),
      isServed: async () => (await send(apiKey)) !== false,
    };
  };

  const cappedKey = async (limitPeriod: 'day' | 'month'): Promise<Guard> => {
    const { key } = await createKey({ limitPicos: 100n, limitPeriod });
    const admitted = (await stores.keys.read(key.hash))?.cap;
    const order = { cap: admitted && { ...admitted, keyId: keyIdOf(key.hash) } };
    const use = async () => {
      const placed = await hold({ ...order, amountPicos: 30n });
      const { holdId, requestId, cap } = placed;
      const charge = { accountId, holdId, requestId, outcome: 'settled', amountPicos: 30n, at: clock.now() } as const;
      await apply(ledger, await commit(ledger, { ...charge, ...(cap && { cap }) }), 30n);
    };
    return { seconds: 0, everySeconds: 1, use, isServed: () => isHeld(order) };
  };

  const allowance = async (): Promise<Guard> => {
    const owner = await openAccount(1_000n, makeKey(secret, true).key);
    const order = { allowancePicos: 1n };
    const uncollected = { picos: 4n, usesAllowance: 'yes' } as const;
    const use = async () => release(ledger, await hold(order, owner), { reason: 'test', uncollected });
    return { seconds: 0, everySeconds: 1, use, isServed: () => isHeld(order, owner) };
  };

  const idempotency = async (): Promise<Guard> => {
    const deps = {
      claims: stores.claimStore,
      answers: new MemoryAnswerStore(),
      ledger,
      leaseMs: LEASE_SECONDS * SECOND_MS,
    };
    let keyHash = '';
    const once = <T>(work: () => Promise<T>) => {
      const renderError = () => ({ status: 500, headers: {}, body: '' });
      const request = { accountId, keyHash, requestId: newRequestId(), fingerprint: 'one', renderError };
      return answerOnce(deps, request, work);
    };
    return {
      seconds: LEASE_SECONDS,
      everySeconds: 1,
      // The process ends while it serves the request.
      use: () => {
        keyHash = `idempotency-key-${newId()}`;
        return new Promise<void>((resolve, reject) => {
          once(() => {
            resolve();
            return new Promise(() => undefined);
          }).catch(reject);
        });
      },
      isServed: async () => (await once(async () => 'served').catch(isError)) !== false,
    };
  };

  const deadHold = async (): Promise<Guard> => {
    const owner = await openAccount(10n, makeKey(secret, true).key);
    const sweeper = { ...ledger, served: new ServedHolds(() => clock.passedMs) };
    return {
      seconds: HOLD_SECONDS,
      everySeconds: 10,
      use: async () => {
        // Ends the hold before it, which expires when the clock steps forward.
        await sweep(sweeper);
        await hold({}, owner);
      },
      isServed: async () => {
        await sweep(sweeper);
        return isHeld({}, owner);
      },
    };
  };

  const idOf = (modelId: string) => ({ providerId: 'provider', modelId });
  /** Whether a process that has just started may call the model. */
  const isPermitted = async (modelId: string): Promise<boolean> => {
    const circuits = createCircuits({ store: stores.circuitStore, clock }, circuitDefaults);
    const permit = await circuits.acquire(idOf(modelId), { accountId, requestId: newRequestId() });
    if (permit.kind === 'permit') await permit.report('unknown');
    return permit.kind === 'permit';
  };

  const opening = async (): Promise<Guard> => {
    let modelId = '';
    return {
      seconds: OPENING_SECONDS,
      everySeconds: 1,
      use: () => {
        modelId = `opened-${newId()}`;
        const opened = openedAgain(undefined, clock.now(), circuitDefaults);
        return stores.circuitStore.open(idOf(modelId), opened, clock.now(), clock.now() + DAY_MS);
      },
      isServed: () => isPermitted(modelId),
    };
  };

  const quarantine = async (): Promise<Guard> => {
    const modelId = 'without-usage';
    const use = async () => {
      // Also after an earlier quarantine, whose end the process reads first.
      await isPermitted(modelId);
      const circuits = createCircuits({ store: stores.circuitStore, clock }, circuitDefaults);
      for (let count = 0; count < 20; count += 1) await circuits.usageMissing(modelId, `account-${count % 2}`);
      expect(await isPermitted(modelId), 'a permit after 20 responses without usage').toBe(false);
    };
    return { seconds: QUARANTINE_SECONDS, everySeconds: 10, use, isServed: () => isPermitted(modelId) };
  };

  const expiringKey = async (): Promise<Guard> => {
    const { apiKey } = await createKey({ expiresAtMs: clock.now() + 2 * DAY_MS });
    return {
      seconds: 0,
      everySeconds: 1,
      use: () => send(apiKey),
      isServed: async () => (await send(apiKey)) !== false,
    };
  };

  const guards: Readonly<Record<string, () => Promise<Guard>>> = {
    bucket: busyKey,
    'slow bucket': slowKey,
    'cap of a day': () => cappedKey('day'),
    'cap of a month': () => cappedKey('month'),
    allowance,
    idempotency,
    hold: deadHold,
    opening,
    quarantine,
    'key expiry': expiringKey,
  };
  return { guards, findings: async () => (await audit(stores, accountId))?.findings };
};

/** Returns the seconds until the guard serves a request. Undefined if that is longer than it may be. */
const waitFor = async (clock: WorldClock, guard: Guard): Promise<number | undefined> => {
  for (let seconds = 0; seconds <= guard.seconds + ADDED_SECONDS_MAX; seconds += guard.everySeconds) {
    if (await guard.isServed()) return seconds;
    clock.wait(guard.everySeconds);
  }
  return undefined;
};

/** Returns the waits after the step, if it set the clock back, and after its correction. */
const waitsFor = async (clock: WorldClock, guard: Guard, stepMs: number): Promise<readonly (number | undefined)[]> => {
  await guard.use();
  clock.ms += stepMs;
  const afterStep = stepMs < 0 ? await waitFor(clock, guard) : 0;
  await guard.use();
  clock.ms -= stepMs;
  return [afterStep, await waitFor(clock, guard)];
};

const longestOf = (waits: readonly (number | undefined)[]): string =>
  waits.includes(undefined) ? 'locked' : String(Math.max(...waits.map(Number)));

const lines: string[] = [];
afterAll(() => {
  process.stdout.write(`Longest wait in seconds after a step of the clock or its correction\n${lines.join('\n')}\n`);
});

describe.each(subjects)('a clock that steps $name', ({ name, open }) => {
  test.each(stepsFor(name))(
    'LIM-2, KEY-9, IDEM-8, BILL-10, BILL-13 a step by %s adds at most 10 s to a wait',
    async (label, stepMs) => {
      const table: Record<string, string> = {};
      const clock = new WorldClock();
      const world = await open(clock);
      for (const [guardName, create] of Object.entries(world.guards)) {
        table[guardName] = longestOf(await waitsFor(clock, await create(), stepMs));
      }
      if (lines.length === 0) lines.push(['store, step', ...Object.keys(table)].join(' | '));
      lines.push([`${name}, ${label}`, ...Object.values(table)].join(' | '));
      expect(Object.values(table)).not.toContain('locked');
      expect(await world.findings()).toEqual([]);
    },
    60_000,
  );
});
