import type { BucketGrant, FunctionDescription, TableGrant } from './function-description.ts';

/** Grant to read the maintenance switch, for every function that checks it (OPS-15). */
export const maintenance: TableGrant = { table: 'counters', actions: ['GetItem'] };

/** Grants to check API keys and client limits. One update checks an API key; the read is for a failed update. */
export const admission: readonly TableGrant[] = [
  { table: 'keys', actions: ['GetItem', 'UpdateItem'] },
  { table: 'counters', actions: ['UpdateItem'] },
  maintenance,
];

/** Grant for holds, charges and releases. */
export const ledger: TableGrant = { table: 'accounts', actions: ['GetItem', 'PutItem', 'UpdateItem'] };

/** Grants to open accounts, replace API keys and add credits in transactions, and to read an account's spending. */
export const accountChanges: readonly TableGrant[] = [
  { table: 'accounts', actions: ['GetItem', 'PutItem', 'UpdateItem', 'ConditionCheckItem', 'Query'] },
  { table: 'keys', actions: ['PutItem', 'UpdateItem'] },
];

/** Grant to remove late charges, which usage sums include then. */
export const usageSums: TableGrant = { table: 'accounts', actions: ['DeleteItem'] };

/** Grant to claim idempotency keys. */
export const claims: TableGrant = {
  table: 'idempotency',
  actions: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'],
};

/** Grant to read and delete circuit states. `admission` covers the updates. */
export const circuits: TableGrant = { table: 'counters', actions: ['BatchGetItem', 'DeleteItem'] };

/** Grants to charge requests. The query reads the sums of closed months, for the allowance of an account (BILL-21). */
export const paid: readonly TableGrant[] = [
  ...admission,
  { ...ledger, actions: [...ledger.actions, 'Query'] },
  circuits,
];

export const readOutbox: BucketGrant = { prefix: 'outbox/', actions: ['GetObject', 'ListBucket'] };
/** Grant for functions that settle charges: without the ledger, they enqueue an outbox entry. */
export const outbox: BucketGrant = { prefix: 'outbox/', actions: ['GetObject', 'PutObject', 'ListBucket'] };
export const putMedia: BucketGrant = { prefix: 'media/', actions: ['PutObject'] };
export const answers: BucketGrant = { prefix: 'answers/', actions: ['GetObject', 'PutObject', 'ListBucket'] };

type Grants = Omit<FunctionDescription, 'entry' | 'timeoutSeconds'>;

/** Merges the grants of several functions, each grant once. */
export const unionOf = (descriptions: readonly FunctionDescription[]): Grants => ({
  tables: merge(
    descriptions.flatMap(({ tables }) => tables),
    ({ table, index }) => `${table}/${index}`,
  ),
  buckets: merge(
    descriptions.flatMap(({ buckets }) => buckets),
    ({ prefix }) => prefix,
  ),
  secrets: [...new Set(descriptions.flatMap(({ secrets }) => secrets))],
  ...(descriptions.some(({ startsVideos }) => startsVideos) ? { startsVideos: true } : {}),
  ...(descriptions.some(({ linksMedia }) => linksMedia) ? { linksMedia: true } : {}),
  ...(descriptions.some(({ showsApp }) => showsApp) ? { showsApp: true } : {}),
});

const merge = <Grant extends { readonly actions: readonly string[] }>(
  grants: readonly Grant[],
  nameOf: (grant: Grant) => string,
): Grant[] =>
  [...Map.groupBy(grants, nameOf).values()].flatMap(([first, ...others]) =>
    first ? [{ ...first, actions: [...new Set([...first.actions, ...others.flatMap(({ actions }) => actions)])] }] : [],
  );
