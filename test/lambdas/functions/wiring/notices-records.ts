import type { AttributeValue, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';

export interface Balances {
  readonly credited: bigint;
  readonly spent: bigint;
}

export interface WriteOfAccount {
  readonly accountId: string;
  readonly chatId?: string;
  readonly version: number;
  readonly before: Balances;
  readonly after: Balances;
  readonly threshold?: bigint;
  /** Open holds after the write, in pico-USD. They do not matter for a notification. */
  readonly held?: bigint;
}

type Image = Record<string, AttributeValue>;

const holdOf = (amount: bigint): Image => ({
  'r.0': { M: { amount: { N: String(amount) }, expiresAt: { N: '1' } } },
});

const imageOf = (write: WriteOfAccount, { credited, spent }: Balances): Image => {
  const { accountId, chatId, version, threshold, held = 0n } = write;
  return {
    pk: { S: `account#${accountId}` },
    sk: { S: 'ACCOUNT' },
    status: { S: 'active' },
    available: { N: String(credited - spent - held) },
    credited: { N: String(credited) },
    spent: { N: String(spent) },
    version: { N: String(version) },
    holds: { M: held === 0n ? {} : holdOf(held) },
    shard: { S: 'shard-0' },
    ...(chatId === undefined ? {} : { chat: { S: chatId } }),
    ...(threshold === undefined ? {} : { threshold: { N: String(threshold) } }),
  };
};

/** Record in Lambda's format. */
export const recordOf = (sequenceNumber: number, write: WriteOfAccount): DynamoDBRecord => ({
  eventID: String(sequenceNumber),
  eventName: 'MODIFY',
  eventVersion: '1.1',
  eventSource: 'aws:dynamodb',
  dynamodb: {
    ApproximateCreationDateTime: 1_795_000_000,
    Keys: { pk: { S: `account#${write.accountId}` }, sk: { S: 'ACCOUNT' } },
    OldImage: imageOf({ ...write, version: write.version - 1 }, write.before),
    NewImage: imageOf(write, write.after),
    SequenceNumber: String(sequenceNumber),
    SizeBytes: 400,
    StreamViewType: 'NEW_AND_OLD_IMAGES',
  },
});

/** Returns an event with these records, converted through JSON like every Lambda event. */
export const eventOf = (...records: readonly DynamoDBRecord[]): DynamoDBStreamEvent => ({
  Records: JSON.parse(JSON.stringify(records)),
});
