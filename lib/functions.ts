import type { HttpFunction } from '../lambdas/routes.ts';
import type { TableName } from './tables.ts';

export type DynamodbAction = 'GetItem' | 'PutItem' | 'UpdateItem' | 'Query';

export interface TableGrant {
  readonly table: TableName;
  /** The grant is for this index alone, not for the table. */
  readonly index?: string;
  readonly actions: readonly DynamodbAction[];
}

export type SecretName = 'keyPepper' | 'providerKeys';

export interface FunctionDescription {
  /** From the root of the repository. The file exports `handler`. */
  readonly entry: string;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** All the function may do with tables: nothing is added elsewhere. */
  readonly tables: readonly TableGrant[];
  readonly secrets: readonly SecretName[];
}

export type HttpFunctionDescription = FunctionDescription & { readonly trigger: 'url' };
export type ScheduledFunctionDescription = FunctionDescription & { readonly trigger: 'every-minute' };

/** Functions no route leads to. */
type ScheduledFunction = 'sweep';
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
    tables: [...admission, { table: 'accounts', actions: ['GetItem', 'PutItem', 'UpdateItem'] }],
    secrets: ['keyPepper', 'providerKeys'],
  },
  catalog: {
    entry: 'lambdas/functions/catalog.ts',
    trigger: 'url',
    memoryMb: 512,
    timeoutSeconds: 30,
    tables: admission,
    secrets: ['keyPepper'],
  },
  account: {
    entry: 'lambdas/functions/account.ts',
    trigger: 'url',
    memoryMb: 512,
    timeoutSeconds: 30,
    tables: [...admission, { table: 'accounts', actions: ['GetItem'] }],
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
    secrets: [],
    // Two at once are safe, so nothing is reserved: a new AWS account has nothing that it could reserve.
  },
};

export const functionNames = ['text', 'catalog', 'account', 'sweep'] as const satisfies readonly FunctionName[];
