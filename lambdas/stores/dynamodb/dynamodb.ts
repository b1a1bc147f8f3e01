import {
  type CancellationReason,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  ProvisionedThroughputExceededException,
  RequestLimitExceeded,
  type ReturnValue,
  type ReturnValuesOnConditionCheckFailure,
  ThrottlingException,
  TransactionCanceledException,
  TransactionConflictException,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { StoreError } from '../../core/errors/store-error.ts';
import { isProgrammingError } from '../programming-errors.ts';
import { type AttributeValues, toAttributes, toItem, toNumber } from './attribute-values.ts';
import type { Item } from './item.ts';
import { type CallTarget, createSignedCalls, type ErrorReply, type ResolvedEndpoint, toTarget } from './signed-call.ts';

const itemOrUndefined = (attributes: AttributeValues | undefined): Item | undefined => attributes && toItem(attributes);

interface Expressions {
  readonly names?: Readonly<Record<string, string>> | undefined;
  readonly values?: Item | undefined;
}

interface Conditional extends Expressions {
  readonly table: string;
  readonly condition?: string | undefined;
  /** Item that a failed condition returns. `ALL_OLD`: the stored item. */
  readonly onFailure?: ReturnValuesOnConditionCheckFailure | undefined;
}

interface IdempotentCall extends Conditional {
  readonly key: Item;
}

export interface PutRequest extends Conditional {
  readonly item: Item;
}

export interface UpdateRequest extends IdempotentCall {
  readonly update: string;
  /** Attributes that `written` includes. */
  readonly returns?: ReturnValue | undefined;
}

export type DeleteRequest = IdempotentCall;

export interface QueryRequest extends Expressions {
  readonly table: string;
  readonly index?: string;
  readonly keyCondition: string;
  readonly isConsistent?: boolean;
  readonly isForward?: boolean;
  readonly limit?: number;
  /** Key after which the query starts. */
  readonly after?: Item | undefined;
}

export interface ScanRequest extends Expressions {
  readonly table: string;
  readonly filter: string;
  readonly after?: Item | undefined;
}

export interface ScanPage {
  readonly items: readonly Item[];
  /** Key after which the next page starts. */
  readonly next: Item | undefined;
}

export type Write =
  | { readonly put: PutRequest }
  | { readonly update: UpdateRequest }
  | { readonly delete: DeleteRequest }
  | { readonly check: IdempotentCall & { readonly condition: string } };

/**
 * `written` has the attributes that the request selects; `conditionFailed` has the stored item, if requested and
 * present.
 */
export type WriteResult = { readonly written: Item } | { readonly conditionFailed: Item | undefined };

/** Reason why a transaction did not make one of its writes. */
export interface Cancellation {
  readonly isConditionFailed: boolean;
  /** Stored item, if the write requested it. */
  readonly item: Item | undefined;
}

/**
 * Calls of the stores. A failed condition is returned, not thrown. Every method throws StoreError if the table does not
 * confirm the call; its kind says whether the write can have happened. An invalid request throws the SDK's error
 * unchanged.
 */
export interface DynamoDB {
  /** Consistent read. */
  get(table: string, key: Item): Promise<Item | undefined>;
  put(request: PutRequest): Promise<WriteResult>;
  update(request: UpdateRequest): Promise<WriteResult>;
  delete(request: DeleteRequest): Promise<WriteResult>;
  /** Faster `put` and `update` without the document client, for the calls of every paid request. */
  readonly hot: Pick<DynamoDB, 'put' | 'update'>;
  /** Reads pages, each of at most a megabyte, until there are `enough` items. */
  query(request: QueryRequest, enough?: number): Promise<readonly Item[]>;
  /** One page of a consistent scan. */
  scan(request: ScanRequest): Promise<ScanPage>;
  /** Consistent reads in one call. `unread` lists keys that the table skipped because of throttling. */
  batchGet(
    table: string,
    keys: readonly Item[],
  ): Promise<{ readonly items: readonly Item[]; readonly unread: readonly Item[] }>;
  /**
   * Makes all writes or none. Returns undefined on success. Otherwise returns one entry per write, in order, of which
   * at least one has a failed condition. A StoreError of the kind `conflict` or `throttled` means that the transaction
   * wrote nothing.
   */
  transact(writes: readonly Write[]): Promise<readonly Cancellation[] | undefined>;
}

/** `now` returns the Unix time in ms, which the signatures of hot calls need. */
export const createDynamoDB = (client: DynamoDBClient, now: () => number): DynamoDB => {
  const documents = DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true, allowImpreciseNumbers: true },
    unmarshallOptions: { wrapNumbers: toNumber },
  });
  return {
    get: async (table, key) => {
      const { Item } = await confirmed(
        documents.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true })),
      );
      return Item;
    },
    put: (request) => write(() => documents.send(new PutCommand(toPut(request)))),
    update: (request) =>
      write(() => documents.send(new UpdateCommand({ ...toUpdate(request), ReturnValues: request.returns }))),
    delete: (request) => write(() => documents.send(new DeleteCommand(toKeyed(request)))),
    hot: createHotCalls(client, now),
    query: (request, enough) => query(documents, request, enough),
    scan: async (request) => {
      const command = new ScanCommand({
        TableName: request.table,
        FilterExpression: request.filter,
        ...toExpressions(request),
        ConsistentRead: true,
        ExclusiveStartKey: request.after,
      });
      const { Items = [], LastEvaluatedKey } = await confirmed(documents.send(command));
      return { items: Items, next: LastEvaluatedKey };
    },
    batchGet: async (table, keys) => {
      const RequestItems = { [table]: { Keys: [...keys], ConsistentRead: true } };
      const reply = await confirmed(documents.send(new BatchGetCommand({ RequestItems })));
      const unread = Object.values(reply.UnprocessedKeys ?? {}).flatMap(({ Keys }) => Keys ?? []);
      return { items: Object.values(reply.Responses ?? {}).flat(), unread };
    },
    transact: (writes) => transact(documents, writes),
  };
};

const createHotCalls = (client: DynamoDBClient, now: () => number): DynamoDB['hot'] => {
  const { config } = client;
  const send = createSignedCalls({ config, now, toError, resolveTarget: (table) => resolveTarget(client, table) });
  return {
    put: (request) =>
      writeHot(() =>
        send('PutItem', { ...toPut(request), Item: toAttributes(request.item), ...toLowLevelValues(request) }),
      ),
    update: (request) =>
      writeHot(() =>
        send('UpdateItem', {
          ...toUpdate(request),
          Key: toAttributes(request.key),
          ...toLowLevelValues(request),
          ReturnValues: request.returns,
        }),
      ),
  };
};

/** Lets the SDK resolve the endpoint of a table, and stops the call before it is sent. */
const resolveTarget = async (client: DynamoDBClient, table: string): Promise<CallTarget> => {
  let target: CallTarget | undefined;
  const command = new UpdateItemCommand({ TableName: table, Key: {} });
  const stop = (_next: unknown, resolved: ResolvedEndpoint) => async () => {
    target = toTarget(resolved, await client.config.region());
    return { response: {}, output: { $metadata: {} } };
  };
  command.middlewareStack.addRelativeTo(stop, { relation: 'after', toMiddleware: 'serializerMiddleware' });
  await client.send(command);
  if (!target) throw new Error('the SDK resolved no endpoint');
  return target;
};

type ExceptionClass = new (options: Pick<ErrorReply, 'message' | '$metadata'>) => Error;

const exceptions = new Map<string, ExceptionClass>([
  ['ConditionalCheckFailedException', ConditionalCheckFailedException],
  ['ProvisionedThroughputExceededException', ProvisionedThroughputExceededException],
  ['RequestLimitExceeded', RequestLimitExceeded],
  ['ThrottlingException', ThrottlingException],
  ['TransactionConflictException', TransactionConflictException],
]);

const toError = ({ name, message, $metadata, item }: ErrorReply): Error => {
  const Exception = exceptions.get(name);
  const error = Exception ? new Exception({ message, $metadata }) : new Error(message);
  return Object.assign(error, { name, $metadata, Item: item });
};

const toLowLevelValues = ({ values }: Expressions) => ({
  ExpressionAttributeValues: values && toAttributes(values),
});

const toExpressions = ({ names, values }: Expressions) => ({
  ExpressionAttributeNames: names && { ...names },
  ExpressionAttributeValues: values,
});

const toConditional = (request: Conditional) => ({
  TableName: request.table,
  ConditionExpression: request.condition,
  ...toExpressions(request),
  ReturnValuesOnConditionCheckFailure: request.onFailure,
});

const toPut = (request: PutRequest) => ({ ...toConditional(request), Item: request.item });

const toKeyed = (request: IdempotentCall) => ({ ...toConditional(request), Key: request.key });

const toUpdate = (request: UpdateRequest) => ({ ...toKeyed(request), UpdateExpression: request.update });

const toWrite = (write: Write): NonNullable<TransactWriteCommandInput['TransactItems']>[number] => {
  if ('put' in write) return { Put: toPut(write.put) };
  if ('update' in write) return { Update: toUpdate(write.update) };
  if ('delete' in write) return { Delete: toKeyed(write.delete) };
  return { ConditionCheck: { ...toKeyed(write.check), ConditionExpression: write.check.condition } };
};

const query = async (
  documents: DynamoDBDocumentClient,
  request: QueryRequest,
  enough = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let from: Item | undefined = request.after;
  do {
    const command = new QueryCommand({
      TableName: request.table,
      IndexName: request.index,
      KeyConditionExpression: request.keyCondition,
      ...toExpressions(request),
      ConsistentRead: request.isConsistent,
      ScanIndexForward: request.isForward,
      Limit: request.limit,
      ExclusiveStartKey: from,
    });
    const page: { Items?: Item[]; LastEvaluatedKey?: Item } = await confirmed(documents.send(command));
    items.push(...(page.Items ?? []));
    from = page.LastEvaluatedKey;
  } while (from && items.length < enough);
  return items;
};

/** Query for all items of an account whose sort key has the prefix. */
export const withPrefix = (table: string, accountId: string, prefix: string): QueryRequest => ({
  table,
  keyCondition: 'pk = :pk AND begins_with(sk, :prefix)',
  values: { ':pk': `account#${accountId}`, ':prefix': prefix },
  isConsistent: true,
});

/** Write of a new item. Its condition fails if the item exists. */
export const putNew = (table: string, item: Item): { readonly put: PutRequest } => ({
  put: { table, item, condition: 'attribute_not_exists(pk)' },
});

const write = async (call: () => Promise<{ readonly Attributes?: Item | undefined }>): Promise<WriteResult> => {
  try {
    const { Attributes = {} } = await call();
    return { written: Attributes };
  } catch (error) {
    // The document client does not convert the items of exceptions.
    if (error instanceof ConditionalCheckFailedException) return { conditionFailed: itemOrUndefined(error.Item) };
    throw toStoreError(error);
  }
};

const writeHot = (call: () => Promise<{ readonly Attributes?: AttributeValues | undefined }>): Promise<WriteResult> =>
  write(async () => {
    const { Attributes } = await call();
    return { Attributes: itemOrUndefined(Attributes) };
  });

const transact = async (
  documents: DynamoDBDocumentClient,
  writes: readonly Write[],
): Promise<readonly Cancellation[] | undefined> => {
  try {
    await documents.send(new TransactWriteCommand({ TransactItems: writes.map(toWrite) }));
    return undefined;
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw toStoreError(error);
    const reasons = error.CancellationReasons ?? [];
    if (reasons.some(isConditionFailed)) {
      return reasons.map((reason) => ({
        isConditionFailed: isConditionFailed(reason),
        item: itemOrUndefined(reason.Item),
      }));
    }
    // The request is invalid, so a repeat cannot succeed.
    if (reasons.some(({ Code }) => Code === 'ValidationError')) throw error;
    const throttled = reasons.some(({ Code }) => /Throttling|Throughput/.test(Code ?? ''));
    throw new StoreError(throttled ? 'throttled' : 'conflict', error.name, error);
  }
};

const isConditionFailed = ({ Code }: CancellationReason): boolean => Code === 'ConditionalCheckFailed';

const confirmed = <T>(reply: Promise<T>): Promise<T> =>
  reply.catch((error: unknown) => {
    throw toStoreError(error);
  });

const programmingErrors: ReadonlySet<string> = new Set(['ValidationException', 'SerializationException']);

/** Converts an error of the SDK. Throws a programming error unchanged. */
const toStoreError = (error: unknown): StoreError => {
  const name = error instanceof Error ? error.name : 'unknown';
  if (isProgrammingError(error, programmingErrors)) throw error;
  if (
    error instanceof ThrottlingException ||
    error instanceof ProvisionedThroughputExceededException ||
    error instanceof RequestLimitExceeded
  ) {
    return new StoreError('throttled', name, error);
  }
  if (error instanceof TransactionConflictException) return new StoreError('conflict', name, error);
  return new StoreError('unavailable', name, error);
};
