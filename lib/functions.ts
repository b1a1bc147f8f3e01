import type { HttpFunction } from '../lambdas/routes.ts';
import type { TableName } from './tables.ts';

export type DynamodbAction = 'GetItem' | 'BatchGetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'Query';

export interface TableGrant {
  readonly table: TableName;
  /** The grant is for this index alone, not for the table. */
  readonly index?: string;
  readonly actions: readonly DynamodbAction[];
}

/** Below one prefix of the bucket `media`, and nowhere else. */
export interface BucketGrant {
  /** With the slash at its end. */
  readonly prefix: string;
  /** Who reads what may be missing needs `ListBucket`: without it S3 answers 403 where it would answer 404. */
  readonly actions: readonly ('GetObject' | 'PutObject' | 'DeleteObject' | 'ListBucket')[];
}

export type SecretName = 'keyPepper' | 'providerKeys';

export interface FunctionDescription {
  /** From the root of the repository. The file exports `handler`. */
  readonly entry: string;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** All the function may do with tables: nothing is added elsewhere. */
  readonly tables: readonly TableGrant[];
  /** And all it may do with objects. */
  readonly buckets: readonly BucketGrant[];
  readonly secrets: readonly SecretName[];
}

export type HttpFunctionDescription = FunctionDescription & { readonly trigger: 'url' };
export type ScheduledFunctionDescription = FunctionDescription & { readonly trigger: 'every-minute' };

/** Functions no route leads to. */
type ScheduledFunction = 'sweep' | 'outbox';
export type FunctionName = HttpFunction | ScheduledFunction;

/** Lookup, revocation, block and rate of a key are one update of its item; the read is for when that update fails. */
const admission: readonly TableGrant[] = [
  { table: 'keys', actions: ['GetItem', 'UpdateItem'] },
  { table: 'counters', actions: ['UpdateItem'] },
];

/**
 * Every Lambda function there is. The type ties it to the route table both ways: a function a route names has to be here, with
 * a URL, and one that no route may name cannot be here with one.
 */
export const functions: Readonly<
  Record<HttpFunction, HttpFunctionDescription> & Record<ScheduledFunction, ScheduledFunctionDescription>
> = {
  text: {
    entry: 'lambdas/functions/text.ts',
    trigger: 'url',
    memoryMb: 1_024,
    // The most there is: an answer may take ten minutes, and one with much reasoning fifteen (LIM-6).
    timeoutSeconds: 900,
    tables: [
      ...admission,
      { table: 'accounts', actions: ['GetItem', 'PutItem', 'UpdateItem'] },
      { table: 'idempotency', actions: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'] },
      // Circuits; what they count is covered above.
      { table: 'counters', actions: ['BatchGetItem', 'DeleteItem'] },
    ],
    buckets: [
      { prefix: 'outbox/', actions: ['GetObject', 'PutObject', 'ListBucket'] },
      { prefix: 'answers/', actions: ['GetObject', 'PutObject', 'ListBucket'] },
    ],
    secrets: ['keyPepper', 'providerKeys'],
  },
  catalog: {
    entry: 'lambdas/functions/catalog.ts',
    trigger: 'url',
    memoryMb: 512,
    timeoutSeconds: 30,
    tables: admission,
    buckets: [],
    secrets: ['keyPepper'],
  },
  account: {
    entry: 'lambdas/functions/account.ts',
    trigger: 'url',
    memoryMb: 512,
    timeoutSeconds: 30,
    tables: [...admission, { table: 'accounts', actions: ['GetItem', 'Query'] }],
    buckets: [],
    secrets: ['keyPepper'],
  },
  sweep: {
    entry: 'lambdas/functions/sweep.ts',
    trigger: 'every-minute',
    memoryMb: 512,
    timeoutSeconds: 60,
    tables: [
      { table: 'accounts', actions: ['GetItem', 'PutItem', 'UpdateItem'] },
      { table: 'accounts', index: 'sweep', actions: ['Query'] },
    ],
    // A note goes by way of the function below, which charges it.
    buckets: [{ prefix: 'outbox/', actions: ['GetObject', 'ListBucket'] }],
    secrets: [],
    // Two at once are safe, so nothing is reserved: a new AWS account has nothing that it could reserve.
  },
  outbox: {
    entry: 'lambdas/functions/outbox.ts',
    trigger: 'every-minute',
    memoryMb: 512,
    timeoutSeconds: 60,
    tables: [{ table: 'accounts', actions: ['GetItem', 'PutItem', 'UpdateItem'] }],
    buckets: [{ prefix: 'outbox/', actions: ['GetObject', 'DeleteObject', 'ListBucket'] }],
    secrets: [],
  },
};

export const functionNames = [
  'text',
  'catalog',
  'account',
  'sweep',
  'outbox',
] as const satisfies readonly FunctionName[];
