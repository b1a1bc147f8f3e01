import type { TableName } from './tables.ts';

/** Items of a transaction need the action of their own kind, and a mere condition the last one. */
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
  /** The grant is for this index alone, not for the table. */
  readonly index?: string;
  readonly actions: readonly DynamodbAction[];
}

/** Below one prefix of the bucket `media`, and nowhere else. */
export interface BucketGrant {
  /** With the slash at its end. */
  readonly prefix: string;
  /** Who reads what may be missing needs `ListBucket`: without it S3 answers 403 where it would answer 404. */
  readonly actions: readonly BucketAction[];
}

/** Large objects are put in parts, which needs no more than `PutObject`; who breaks that off, `AbortMultipartUpload`. */
type BucketAction = 'GetObject' | 'PutObject' | 'DeleteObject' | 'AbortMultipartUpload' | 'ListBucket';

export type SecretName = 'keyPepper' | 'providerKeys' | 'botToken' | 'topUpKey' | 'originSecret';

export interface FunctionDescription {
  /** From the root of the repository. */
  readonly entry: string;
  readonly timeoutSeconds: number;
  /** All the function may do with tables: nothing is added elsewhere. */
  readonly tables: readonly TableGrant[];
  /** And all it may do with objects. */
  readonly buckets: readonly BucketGrant[];
  readonly secrets: readonly SecretName[];
  /** Starts executions of the state machine, and is told its name. */
  readonly startsVideos?: true;
  /** Makes links to images, and is told what they begin with. */
  readonly linksMedia?: true;
  /** Tells people where the gateway and its mini app are. */
  readonly showsApp?: true;
}

/** Called with an event. The entry exports `handler`. */
export interface EventFunctionDescription extends FunctionDescription {
  readonly trigger: EventTrigger;
  readonly memoryMb: number;
}

/** `url` is for what clients call: by its own URL, or by API Gateway where that is the front door. */
export type EventTrigger = 'url' | 'every-minute' | 'every-hour' | 'machine' | 'account-changes';

/** An HTTP server that the entry starts by itself. AWS gives every such environment 2 GB. */
export interface WebFunctionDescription extends FunctionDescription {
  readonly trigger: 'web';
  /** The most that one environment is given at a time. */
  readonly concurrency: number;
}

/** One of those that a certain thing starts. */
export type Triggered<Trigger extends EventTrigger> = EventFunctionDescription & { readonly trigger: Trigger };
