import type { TableName } from './tables.ts';

/**
 * DynamoDB action of a grant. Each item of a transaction needs the action of its kind; a mere condition needs
 * `ConditionCheckItem`.
 */
export type DynamodbAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'Query'
  | 'Scan'
  | 'ConditionCheckItem';

export interface TableGrant {
  readonly table: TableName;
  /** Index of the table. The grant then covers only the index. */
  readonly index?: string;
  readonly actions: readonly DynamodbAction[];
}

/** Grant for one prefix of the bucket `media`. */
export interface BucketGrant {
  /** Prefix with a trailing slash. */
  readonly prefix: string;
  /**
   * Actions of the grant. A function that reads objects which may be missing needs `ListBucket`: without it, S3 returns
   * 403 instead of 404.
   */
  readonly actions: readonly BucketAction[];
}

/** S3 action of a grant. Multipart uploads need only `PutObject`; aborting one needs `AbortMultipartUpload`. */
type BucketAction = 'GetObject' | 'PutObject' | 'DeleteObject' | 'AbortMultipartUpload' | 'ListBucket';

export type SecretName = 'keyPepper' | 'providerKeys' | 'botToken' | 'topUpKey' | 'originSecret' | 'canaryKey';

export interface FunctionDescription {
  /** Path of the entry file, relative to the repository. */
  readonly entry: string;
  readonly timeoutSeconds: number;
  /** All tables that the function may access, with the allowed actions. */
  readonly tables: readonly TableGrant[];
  /** Prefixes in the media bucket that the function may access, each with the allowed actions. */
  readonly buckets: readonly BucketGrant[];
  readonly secrets: readonly SecretName[];
  /** Whether the function starts executions of the state machine, and so gets its ARN. */
  readonly startsVideos?: true;
  /** Whether the function creates links to images, and so gets their base URL. */
  readonly linksMedia?: true;
  /** Whether the function serves the mini app and the API reference, and so has them in its code. */
  readonly servesPages?: true;
  /** Whether the function shows the URLs of the gateway and its mini app to users. */
  readonly showsApp?: true;
  /** Whether the function calls the gateway as a client does, and so gets a URL that must refuse it. */
  readonly checksGateway?: true;
  /** Whether the function publishes usage events, and so gets the name of their bus. */
  readonly publishesUsage?: true;
}

/** Function that is called with events. Its entry exports `handler`. */
export interface EventFunctionDescription extends FunctionDescription {
  readonly trigger: EventTrigger;
  readonly memoryMb: number;
}

/** What calls the function. `url` means clients, by its own URL or through API Gateway if that is the front door. */
export type EventTrigger =
  | 'url'
  | 'every-minute'
  | 'every-five-minutes'
  | 'every-hour'
  | 'machine'
  | 'account-changes'
  | 'charge-records';

/** Function whose entry starts an HTTP server. AWS gives every environment of it 2 GB. */
export interface WebFunctionDescription extends FunctionDescription {
  readonly trigger: 'web';
  /** Maximum number of concurrent requests in one environment. */
  readonly concurrency: number;
}

/** Description of a function with this trigger. */
export type Triggered<Trigger extends EventTrigger> = EventFunctionDescription & { readonly trigger: Trigger };
