import type { IncomingMessage } from 'node:http';
import * as z from 'zod';

/** A call, as read from the protocol of its store. */
export interface Wanted {
  /** Operation such as `UpdateItem`, or the HTTP method for a bucket. */
  readonly operation: string;
  /** Name of the table or bucket. */
  readonly table: string;
  /** Keys of all items in the call, partition and sort key separated by a space. For a bucket, the object key. */
  readonly keys: readonly string[];
  /** Parsed body. Undefined for a bucket. */
  readonly body: unknown;
}

export interface Refusal {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** Parts of a store's protocol that a proxy needs. */
export interface StoreWire {
  describe(request: IncomingMessage, body: Buffer): Wanted;
  refusal(kind: 'throttle' | 'conflict' | 500 | 503, wanted: Wanted): Refusal;
}

const text = z.object({ S: z.string() });
const item = z.object({ pk: text.optional(), sk: text.optional() });
const named = z.object({ TableName: z.string().optional(), Key: item.optional(), Item: item.optional() });
const bodySchema = named.extend({
  TransactItems: z.array(z.record(z.string(), named)).optional(),
  ExpressionAttributeValues: z.record(z.string(), z.unknown()).optional(),
});
const queried = z.object({ ':pk': text.optional(), ':shard': text.optional() });

const keyOf = ({ Key, Item }: z.infer<typeof named>): string | undefined => {
  const { pk, sk } = Key ?? Item ?? {};
  return pk && [pk.S, sk?.S].filter((part) => part !== undefined).join(' ');
};

/**
 * DynamoDB's JSON protocol, with the operation in a header. Errors: API reference, "Error responses" of each operation.
 */
export const dynamodbWire: StoreWire = {
  describe(request, bytes) {
    const body: unknown = JSON.parse(bytes.toString() || '{}');
    const { TransactItems, ExpressionAttributeValues, ...single } = bodySchema.parse(body);
    const parts = [single, ...(TransactItems ?? []).flatMap((one) => Object.values(one))];
    const query = queried.safeParse(ExpressionAttributeValues ?? {}).data;
    const keys = [...parts.map(keyOf), single.Key ? undefined : (query?.[':pk'] ?? query?.[':shard'])?.S];
    return {
      operation: String(request.headers['x-amz-target']).replace(/^.*\./, ''),
      table: parts.find(({ TableName }) => TableName !== undefined)?.TableName ?? '',
      keys: keys.filter((key) => key !== undefined),
      body,
    };
  },
  refusal: (kind, { operation }) => dynamodbRefusals[kind](operation),
};

const OWN = 'com.amazonaws.dynamodb.v20120810#';

const dynamodbRefusal = (status: number, type: string, message: string, more: object = {}): Refusal => ({
  status,
  contentType: 'application/x-amz-json-1.0',
  text: JSON.stringify({ __type: type, message, ...more }),
});

const dynamodbRefusals: Record<'throttle' | 'conflict' | 500 | 503, (operation: string) => Refusal> = {
  throttle: () =>
    dynamodbRefusal(
      400,
      `${OWN}ThrottlingException`,
      'Throughput exceeds the current capacity of your table or index.',
      // This reason means that one key is throttled, not the whole table.
      { throttlingReasons: [{ reason: 'TableWriteKeyRangeThroughputExceeded' }] },
    ),
  // A conflicting transaction is reported with a reason for each of its items.
  conflict: (operation) =>
    operation === 'TransactWriteItems'
      ? dynamodbRefusal(
          400,
          `${OWN}TransactionCanceledException`,
          'Transaction cancelled [None, TransactionConflict]',
          {
            CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict', Message: ONGOING }],
          },
        )
      : dynamodbRefusal(400, `${OWN}TransactionConflictException`, ONGOING),
  500: () => dynamodbRefusal(500, `${OWN}InternalServerError`, 'Internal server error'),
  503: () => dynamodbRefusal(503, 'com.amazon.coral.service#ServiceUnavailableException', 'The service is unavailable'),
};

const ONGOING = 'Transaction is ongoing for the item';

/** S3 with path-style URLs. Errors: API reference, "Error responses", list of error codes. */
export const s3Wire: StoreWire = {
  describe(request) {
    const [, table = '', ...key] = decodeURIComponent((request.url ?? '').split('?', 1)[0] ?? '').split('/');
    return { operation: request.method ?? '', table, keys: [key.join('/')], body: undefined };
  },
  refusal: (kind) => {
    const [status, code] = s3Refusals[kind];
    const text = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${code}</Message></Error>`;
    return { status, contentType: 'application/xml', text };
  },
};

const s3Refusals = {
  throttle: [503, 'SlowDown'],
  conflict: [409, 'ConditionalRequestConflict'],
  500: [500, 'InternalError'],
  503: [503, 'ServiceUnavailable'],
} as const;
