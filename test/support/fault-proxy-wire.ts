import type { IncomingMessage } from 'node:http';
import * as z from 'zod';

/** What a call wants, as its store's protocol says it. */
export interface Wanted {
  /** `UpdateItem`; of a bucket `PUT`. */
  readonly operation: string;
  /** Or bucket. */
  readonly table: string;
  /** Every item it names, partition and sort key with a space between; of a bucket the object's key. */
  readonly keys: readonly string[];
  /** Parsed; of a bucket undefined. */
  readonly body: unknown;
}

export interface Refusal {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** The protocol of a store, as far as somebody in between has to speak it. */
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

/** DynamoDB's JSON protocol: the operation is in a header. Errors: API reference, "Error responses" of each operation. */
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
      // Of this one key, not of the table as a whole.
      { throttlingReasons: [{ reason: 'TableWriteKeyRangeThroughputExceeded' }] },
    ),
  // A transaction that meets another one is told so for each of its items.
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

/** S3 in path style. Errors: API reference, "Error responses", list of error codes. */
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
