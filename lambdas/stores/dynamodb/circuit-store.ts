import {
  BatchGetItemCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import type { CircuitKey, Opening } from '../../core/circuit/circuit.ts';
import type { BucketCount, CircuitReading, CircuitState, CircuitStore } from '../../core/circuit/circuit-store.ts';
import { type Item, number, readNumber, readText, text } from './attributes.ts';
import { send, toStoreError } from './failures.ts';

const stateId = ({ providerId, modelId }: CircuitKey): string => `circuit#${providerId}#${modelId}`;
const bucketId = (key: CircuitKey, startMs: number): string => `${stateId(key)}#${startMs}`;
const quarantineId = (modelId: string): string => `quarantine#${modelId}`;
const missingId = (modelId: string, startMs: number): string => `${quarantineId(modelId)}#${startMs}`;

/** Time to live is told in whole seconds. */
const seconds = (ms: number): number => Math.ceil(ms / 1_000);

/** Undefined once nobody has touched it for long: the item itself may stand for days more. */
const toState = (item: Item | undefined, nowMs: number): CircuitState | undefined => {
  if (!item || readNumber(item, 'expiresAt') <= nowMs / 1_000) return undefined;
  return {
    openUntilMs: readNumber(item, 'openUntil'),
    openings: readNumber(item, 'timesOpened'),
    goodProbes: readNumber(item, 'goodProbes'),
    probe: item.probedBy && { owner: readText(item, 'probedBy'), leaseUntilMs: readNumber(item, 'leaseUntil') },
  };
};

const openingValues = ({ openUntilMs, openings, goodProbes }: Opening, expiresAtMs: number): Item => ({
  ':openUntil': number(openUntilMs),
  ':openings': number(openings),
  ':goodProbes': number(goodProbes),
  ':expiresAt': number(seconds(expiresAtMs)),
});

/** Goes with `openingValues`. */
const setOpening =
  'SET openUntil = :openUntil, timesOpened = :openings, goodProbes = :goodProbes, expiresAt = :expiresAt';

/** A bucket that has no item has had no calls. */
const toBucket = (item: Item | undefined, startMs: number): BucketCount => ({
  startMs,
  failures: item ? readNumber(item, 'failedCalls') : 0,
  successes: item ? readNumber(item, 'goodCalls') : 0,
  accounts: item?.failedAccounts?.SS ?? [],
});

const keyOf = (id: string): Item => ({ pk: text(id) });

type Change = Omit<UpdateItemCommandInput, 'TableName' | 'Key'>;

interface ItemsRead {
  readonly items: ReadonlyMap<string, Item>;
  /** Left out for want of capacity; not asked for again, because the next reading comes soon. */
  readonly unread: ReadonlySet<string>;
}

/** Calls on the items of circuits, each by its id. */
interface CircuitCalls {
  read(ids: readonly string[]): Promise<ItemsRead>;
  update(
    id: string,
    change: Change,
  ): Promise<{ ok: { Attributes?: Item | undefined } } | { conditionFailed: Item | undefined }>;
  /** Whether the update's condition held. */
  holds(id: string, change: Change): Promise<boolean>;
  /** Whether the condition held. */
  remove(id: string, condition: string, values: Item): Promise<boolean>;
}

const createCircuitCalls = (client: DynamoDBClient, table: string): CircuitCalls => {
  const update: CircuitCalls['update'] = (id, change) =>
    send(() => client.send(new UpdateItemCommand({ TableName: table, Key: keyOf(id), ...change })));
  return {
    update,
    holds: async (id, change) => 'ok' in (await update(id, change)),
    remove: async (id, ConditionExpression, ExpressionAttributeValues) => {
      const input = { TableName: table, Key: keyOf(id), ConditionExpression, ExpressionAttributeValues };
      return 'ok' in (await send(() => client.send(new DeleteItemCommand(input))));
    },
    read: async (ids) => {
      const request = { [table]: { Keys: ids.map(keyOf), ConsistentRead: true } };
      const reply = await client.send(new BatchGetItemCommand({ RequestItems: request })).catch((error: unknown) => {
        throw toStoreError(error);
      });
      const items = Object.values(reply.Responses ?? {}).flat();
      const unread = Object.values(reply.UnprocessedKeys ?? {}).flatMap(({ Keys }) => Keys ?? []);
      return {
        items: new Map(items.map((item) => [readText(item, 'pk'), item])),
        unread: new Set(unread.map((key) => readText(key, 'pk'))),
      };
    },
  };
};

/** BILL-10: good answers without usage, counted by the minute, and the quarantine that follows. */
const createMissingCounts = ({
  read,
  update,
  holds,
}: CircuitCalls): Pick<CircuitStore, 'countMissing' | 'readMissing' | 'quarantine'> => ({
  countMissing: async (modelId, bucketStartMs, expiresAtMs) => {
    const reply = await update(missingId(modelId, bucketStartMs), {
      UpdateExpression: 'SET expiresAt = :expiresAt ADD withoutUsage :one',
      ExpressionAttributeValues: { ':expiresAt': number(seconds(expiresAtMs)), ':one': number(1) },
      ReturnValues: 'ALL_NEW',
    });
    return 'ok' in reply ? readNumber(reply.ok.Attributes ?? {}, 'withoutUsage') : 0;
  },
  readMissing: async (modelId, bucketStartsMs) => {
    const { items } = await read(bucketStartsMs.map((startMs) => missingId(modelId, startMs)));
    return [...items.values()].reduce((total, item) => total + readNumber(item, 'withoutUsage'), 0);
  },
  quarantine: (modelId, untilMs, nowMs) =>
    holds(quarantineId(modelId), {
      UpdateExpression: 'SET shutUntil = :until, expiresAt = :expiresAt',
      ConditionExpression: 'attribute_not_exists(pk) OR shutUntil <= :now',
      ExpressionAttributeValues: {
        ':until': number(untilMs),
        ':expiresAt': number(seconds(untilMs)),
        ':now': number(nowMs),
      },
    }),
});

const OWNED = 'probedBy = :owner';

/** The state item of a circuit: every write is conditional, and a probe's on its lease. */
const createCircuitStates = ({
  update,
  holds,
  remove,
}: CircuitCalls): Pick<CircuitStore, 'open' | 'lease' | 'renew' | 'giveBack' | 'judge' | 'close'> => ({
  open: (key, opening, nowMs, expiresAtMs) =>
    holds(stateId(key), {
      UpdateExpression: `${setOpening} REMOVE probedBy, leaseUntil`,
      ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now',
      ExpressionAttributeValues: {
        ...openingValues(opening, expiresAtMs),
        ':now': number(Math.floor(nowMs / 1_000)),
      },
    }),
  lease: async (key, { owner, leaseUntilMs }, nowMs) => {
    const reply = await update(stateId(key), {
      UpdateExpression: 'SET probedBy = :owner, leaseUntil = :until',
      ConditionExpression: 'openUntil <= :now AND (attribute_not_exists(probedBy) OR leaseUntil <= :now)',
      ExpressionAttributeValues: { ':owner': text(owner), ':until': number(leaseUntilMs), ':now': number(nowMs) },
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const leased = 'ok' in reply ? toState(reply.ok.Attributes, nowMs) : undefined;
    return leased ? { leased } : { refused: 'ok' in reply ? undefined : toState(reply.conditionFailed, nowMs) };
  },
  renew: (key, owner, leaseUntilMs) =>
    holds(stateId(key), {
      UpdateExpression: 'SET leaseUntil = :until',
      ConditionExpression: OWNED,
      ExpressionAttributeValues: { ':owner': text(owner), ':until': number(leaseUntilMs) },
    }),
  giveBack: (key, owner) =>
    holds(stateId(key), {
      UpdateExpression: 'REMOVE probedBy, leaseUntil',
      ConditionExpression: OWNED,
      ExpressionAttributeValues: { ':owner': text(owner) },
    }),
  judge: (key, owner, opening, expiresAtMs) =>
    holds(stateId(key), {
      UpdateExpression: `${setOpening} REMOVE probedBy, leaseUntil`,
      ConditionExpression: OWNED,
      ExpressionAttributeValues: { ...openingValues(opening, expiresAtMs), ':owner': text(owner) },
    }),
  close: (key, owner) => remove(stateId(key), OWNED, { ':owner': text(owner) }),
});

/** The client is one that does not repeat a call: a count would be added twice, and a late answer is worth nothing. */
export const createCircuitStore = (client: DynamoDBClient, table: string): CircuitStore => {
  const calls = createCircuitCalls(client, table);
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
        UpdateExpression: `SET expiresAt = :expiresAt ADD failedCalls :failures, goodCalls :successes${named ? ', failedAccounts :accounts' : ''}`,
        ExpressionAttributeValues: {
          ':expiresAt': number(seconds(expiresAtMs)),
          ':failures': number(failures),
          ':successes': number(successes),
          ...(named ? { ':accounts': { SS: [...accounts] } } : {}),
        },
      });
    },
  };
};
