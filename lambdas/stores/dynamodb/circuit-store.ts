import type { CircuitId, Opening } from '../../core/circuit/circuit.ts';
import {
  type BucketCount,
  type CircuitReading,
  type CircuitState,
  type CircuitStore,
  type MissingCount,
  sumOfMissing,
} from '../../core/circuit/circuit-store.ts';
import type { DynamoDB, UpdateRequest, WriteResult } from './dynamodb.ts';
import { type Item, readNumber, readText, readTexts } from './item.ts';

const stateId = ({ providerId, modelId }: CircuitId): string => `circuit#${providerId}#${modelId}`;
const bucketId = (key: CircuitId, startMs: number): string => `${stateId(key)}#${startMs}`;
const quarantineId = (modelId: string): string => `quarantine#${modelId}`;
const missingId = (modelId: string, startMs: number): string => `${quarantineId(modelId)}#${startMs}`;

/** Time to live is in whole seconds. */
const seconds = (ms: number): number => Math.ceil(ms / 1_000);

/** Returns undefined for an expired state, whose item can stay in the table for days. */
const toState = (item: Item | undefined, nowMs: number): CircuitState | undefined => {
  if (!item || readNumber(item, 'expiresAt') <= nowMs / 1_000) return undefined;
  return {
    openUntilMs: readNumber(item, 'openUntil'),
    openings: readNumber(item, 'timesOpened'),
    goodProbes: readNumber(item, 'goodProbes'),
    probe:
      item.probedBy === undefined
        ? undefined
        : { owner: readText(item, 'probedBy'), leaseUntilMs: readNumber(item, 'leaseUntil') },
  };
};

const openingValues = ({ openUntilMs, openings, goodProbes }: Opening, expiresAtMs: number): Item => ({
  ':openUntil': openUntilMs,
  ':openings': openings,
  ':goodProbes': goodProbes,
  ':expiresAt': seconds(expiresAtMs),
});

/** Sets the values of `openingValues`. */
const setOpening =
  'SET openUntil = :openUntil, timesOpened = :openings, goodProbes = :goodProbes, expiresAt = :expiresAt';

/** A bucket without an item has no calls. */
const toBucket = (item: Item | undefined, startMs: number): BucketCount => ({
  startMs,
  failures: item ? readNumber(item, 'failedCalls') : 0,
  successes: item ? readNumber(item, 'goodCalls') : 0,
  accounts: item ? readTexts(item, 'failedAccounts') : [],
});

const toMissing = (item: Item): MissingCount => ({
  count: readNumber(item, 'withoutUsage'),
  accounts: readTexts(item, 'accountsWithoutUsage'),
});

const keyOf = (id: string): Item => ({ pk: id });

type Change = Omit<UpdateRequest, 'table' | 'key'>;

interface ItemsRead {
  readonly items: ReadonlyMap<string, Item>;
  /**
   * Ids that the table skipped because of throttling. The store does not retry them, because the next read follows
   * soon.
   */
  readonly unread: ReadonlySet<string>;
}

/** Calls on circuit items, each by its id. */
interface CircuitCalls {
  read(ids: readonly string[]): Promise<ItemsRead>;
  update(id: string, change: Change): Promise<WriteResult>;
  /** Returns whether the condition of the update held. */
  holds(id: string, change: Change): Promise<boolean>;
  /** Returns whether the condition held. */
  remove(id: string, condition: string, values: Item): Promise<boolean>;
}

const createCircuitCalls = (db: DynamoDB, table: string): CircuitCalls => {
  const update: CircuitCalls['update'] = (id, change) => db.update({ table, key: keyOf(id), ...change });
  return {
    update,
    holds: async (id, change) => 'written' in (await update(id, change)),
    remove: async (id, condition, values) =>
      'written' in (await db.delete({ table, key: keyOf(id), condition, values })),
    read: async (ids) => {
      const { items, unread } = await db.batchGet(table, ids.map(keyOf));
      return {
        items: new Map(items.map((item) => [readText(item, 'pk'), item])),
        unread: new Set(unread.map((key) => readText(key, 'pk'))),
      };
    },
  };
};

/** BILL-10: counts responses without usage per minute, and stores the quarantine that follows. */
const createMissingCounts = ({
  read,
  update,
  holds,
}: CircuitCalls): Pick<CircuitStore, 'countMissing' | 'readMissing' | 'quarantine'> => ({
  countMissing: async (modelId, account, bucketStartMs, expiresAtMs) => {
    const reply = await update(missingId(modelId, bucketStartMs), {
      update: 'SET expiresAt = :expiresAt ADD withoutUsage :one, accountsWithoutUsage :accounts',
      values: { ':expiresAt': seconds(expiresAtMs), ':one': 1, ':accounts': new Set([account]) },
      returns: 'ALL_NEW',
    });
    return sumOfMissing('written' in reply ? [toMissing(reply.written)] : []);
  },
  readMissing: async (modelId, bucketStartsMs) => {
    const { items } = await read(bucketStartsMs.map((startMs) => missingId(modelId, startMs)));
    return sumOfMissing([...items.values()].map(toMissing));
  },
  quarantine: (modelId, untilMs, nowMs) =>
    holds(quarantineId(modelId), {
      update: 'SET shutUntil = :until, expiresAt = :expiresAt',
      condition: 'attribute_not_exists(pk) OR shutUntil <= :now',
      values: {
        ':until': untilMs,
        ':expiresAt': seconds(untilMs),
        ':now': nowMs,
      },
    }),
});

const OWNED = 'probedBy = :owner';

/**
 * Creates the calls on the state item of a circuit. Every write is conditional; those of a probe depend on its lease.
 */
const createCircuitStates = ({
  update,
  holds,
  remove,
}: CircuitCalls): Pick<CircuitStore, 'open' | 'lease' | 'renew' | 'releaseProbe' | 'judge' | 'close'> => ({
  open: (key, opening, nowMs, expiresAtMs) =>
    holds(stateId(key), {
      update: `${setOpening} REMOVE probedBy, leaseUntil`,
      condition: 'attribute_not_exists(pk) OR expiresAt <= :now',
      values: {
        ...openingValues(opening, expiresAtMs),
        ':now': Math.floor(nowMs / 1_000),
      },
    }),
  lease: async (key, { owner, leaseUntilMs }, nowMs) => {
    const reply = await update(stateId(key), {
      update: 'SET probedBy = :owner, leaseUntil = :until',
      condition: 'openUntil <= :now AND (attribute_not_exists(probedBy) OR leaseUntil <= :now)',
      values: { ':owner': owner, ':until': leaseUntilMs, ':now': nowMs },
      returns: 'ALL_NEW',
      onFailure: 'ALL_OLD',
    });
    const leased = 'written' in reply ? toState(reply.written, nowMs) : undefined;
    return leased ? { leased } : { refused: 'written' in reply ? undefined : toState(reply.conditionFailed, nowMs) };
  },
  renew: (key, owner, leaseUntilMs) =>
    holds(stateId(key), {
      update: 'SET leaseUntil = :until',
      condition: OWNED,
      values: { ':owner': owner, ':until': leaseUntilMs },
    }),
  releaseProbe: (key, owner) =>
    holds(stateId(key), {
      update: 'REMOVE probedBy, leaseUntil',
      condition: OWNED,
      values: { ':owner': owner },
    }),
  judge: (key, owner, opening, expiresAtMs) =>
    holds(stateId(key), {
      update: `${setOpening} REMOVE probedBy, leaseUntil`,
      condition: OWNED,
      values: { ...openingValues(opening, expiresAtMs), ':owner': owner },
    }),
  close: (key, owner) => remove(stateId(key), OWNED, { ':owner': owner }),
});

/** Creates the store. The database must not repeat calls: a repeat would count twice, and a late result is useless. */
export const createCircuitStore = (db: DynamoDB, table: string): CircuitStore => {
  const calls = createCircuitCalls(db, table);
  return {
    ...createCircuitStates(calls),
    ...createMissingCounts(calls),
    read: async (key, bucketStartsMs, nowMs): Promise<CircuitReading> => {
      const [state, quarantine] = [stateId(key), quarantineId(key.modelId)];
      const buckets = bucketStartsMs.map((startMs) => ({ startMs, id: bucketId(key, startMs) }));
      const { items, unread } = await calls.read([state, quarantine, ...buckets.map(({ id }) => id)]);
      const shut = items.get(quarantine);
      return {
        state: unread.has(state) ? { known: false } : { known: true, value: toState(items.get(state), nowMs) },
        buckets: buckets.filter(({ id }) => !unread.has(id)).map(({ id, startMs }) => toBucket(items.get(id), startMs)),
        quarantinedUntilMs: unread.has(quarantine)
          ? { known: false }
          : { known: true, value: shut ? readNumber(shut, 'shutUntil') : 0 },
      };
    },
    count: async (key, { startMs, failures, successes, accounts }, expiresAtMs) => {
      const named = accounts.length > 0;
      await calls.update(bucketId(key, startMs), {
        update: `SET expiresAt = :expiresAt ADD failedCalls :failures, goodCalls :successes${named ? ', failedAccounts :accounts' : ''}`,
        values: {
          ':expiresAt': seconds(expiresAtMs),
          ':failures': failures,
          ':successes': successes,
          ...(named ? { ':accounts': new Set(accounts) } : {}),
        },
      });
    },
  };
};
