import type { BucketGrant, FunctionDescription, TableGrant } from './function-description.ts';

/** Lookup, revocation, block and rate of a key are one update of its item; the read is for when that update fails. */
export const admission: readonly TableGrant[] = [
  { table: 'keys', actions: ['GetItem', 'UpdateItem'] },
  { table: 'counters', actions: ['UpdateItem'] },
];

/** Holds, charges and releases. */
export const ledger: TableGrant = { table: 'accounts', actions: ['GetItem', 'PutItem', 'UpdateItem'] };

/** Accounts that begin, keys that are replaced, credits: transactions over both tables; and what an account has spent. */
export const accountChanges: readonly TableGrant[] = [
  { table: 'accounts', actions: ['GetItem', 'PutItem', 'UpdateItem', 'ConditionCheckItem', 'Query'] },
  { table: 'keys', actions: ['PutItem', 'UpdateItem'] },
];

/** Claims of Idempotency-Keys. */
export const claims: TableGrant = {
  table: 'idempotency',
  actions: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'],
};

/** What they count is covered by `admission`. */
export const circuits: TableGrant = { table: 'counters', actions: ['BatchGetItem', 'DeleteItem'] };

export const readOutbox: BucketGrant = { prefix: 'outbox/', actions: ['GetObject', 'ListBucket'] };
/** Who settles leaves notes where the ledger does not answer. */
export const outbox: BucketGrant = { prefix: 'outbox/', actions: ['GetObject', 'PutObject', 'ListBucket'] };
export const putMedia: BucketGrant = { prefix: 'media/', actions: ['PutObject'] };
export const answers: BucketGrant = { prefix: 'answers/', actions: ['GetObject', 'PutObject', 'ListBucket'] };

type Grants = Omit<FunctionDescription, 'entry' | 'timeoutSeconds'>;

/** What a function needs that serves all that these serve; each grant once. */
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
