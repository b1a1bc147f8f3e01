import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  type _Record,
  type AttributeValue,
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  ExpiredIteratorException,
  GetRecordsCommand,
  GetShardIteratorCommand,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBRecord, AttributeValue as LambdaValue } from 'aws-lambda';
import { localDynamodbConfig } from '../create-tables.ts';

/** How far a stream has been read. A table that was made anew has another stream. */
export type Position = { readonly streamArn: string; readonly sequenceNumber: string };

/** No record has it. */
const beforeAll = '0';

/** Before everything that is still there. */
export const oldest: Position = { streamArn: '', sequenceNumber: beforeAll };

/** The most that any engine gives at once. */
export const pageMax = 1_000;

export type ChangeStream = {
  readonly arn: string;
  /** What was written since the last time, in order, in Lambda's shape; some of it if there is much. Throws when the engine is away. */
  read(): Promise<readonly DynamoDBRecord[]>;
  close(): void;
};

/**
 * Opens a table's stream behind a position; where that is another stream's, at what is oldest; and at the end if there is none at all.
 * Undefined for a table without a stream.
 */
export async function openStream(
  endpoint: string,
  table: string,
  position: Position | undefined,
): Promise<ChangeStream | undefined> {
  const arn = await findStream(endpoint, table);
  if (arn === undefined) return undefined;
  const client = new DynamoDBStreamsClient(localDynamodbConfig(endpoint));
  let lastRead = position && (position.streamArn === arn ? position.sequenceNumber : beforeAll);
  let iterator = await openIterator(client, arn, lastRead);
  return {
    arn,
    async read() {
      try {
        const page = await client.send(new GetRecordsCommand({ ShardIterator: iterator, Limit: pageMax }));
        const records = page.Records ?? [];
        lastRead = records.at(-1)?.dynamodb?.SequenceNumber ?? lastRead;
        iterator = page.NextShardIterator ?? (await openIterator(client, arn, lastRead));
        return records.map(toLambdaRecord);
      } catch (error) {
        // An iterator lives for minutes, and this machine may have slept.
        if (error instanceof ExpiredIteratorException) iterator = await openIterator(client, arn, lastRead);
        throw error;
      }
    },
    close: () => client.destroy(),
  };
}

async function findStream(endpoint: string, TableName: string): Promise<string | undefined> {
  const client = new DynamoDBClient(localDynamodbConfig(endpoint));
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    return Table?.StreamSpecification?.StreamEnabled ? Table.LatestStreamArn : undefined;
  } finally {
    client.destroy();
  }
}

/** On one machine a stream has one shard at a time. Behind a position that the engine has forgotten, from the oldest it knows. */
async function openIterator(
  client: DynamoDBStreamsClient,
  StreamArn: string,
  SequenceNumber: string | undefined,
): Promise<string> {
  const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
  const shard = StreamDescription?.Shards?.at(-1);
  const open = async (start: Start): Promise<string> => {
    const command = new GetShardIteratorCommand({ StreamArn, ShardId: shard?.ShardId, ...start });
    const { ShardIterator } = await client.send(command);
    if (ShardIterator === undefined) throw new Error(`the stream ${StreamArn} has no iterator`);
    return ShardIterator;
  };
  if (SequenceNumber === undefined) return open({ ShardIteratorType: 'LATEST' });
  const start = BigInt(shard?.SequenceNumberRange?.StartingSequenceNumber ?? 0);
  if (SequenceNumber === beforeAll || start > BigInt(SequenceNumber))
    return open({ ShardIteratorType: 'TRIM_HORIZON' });
  try {
    return await open({ ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber });
  } catch (error) {
    if (!(error instanceof TrimmedDataAccessException)) throw error;
    return open({ ShardIteratorType: 'TRIM_HORIZON' });
  }
}

type Start =
  | { ShardIteratorType: 'LATEST' | 'TRIM_HORIZON' }
  | { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER'; SequenceNumber: string };

/** As Lambda hands it over: JSON, with times in seconds and bytes in base64. */
function toLambdaRecord({ dynamodb, ...record }: _Record): DynamoDBRecord {
  const { ApproximateCreationDateTime: time, Keys, NewImage, OldImage, ...rest } = dynamodb ?? {};
  return {
    ...record,
    dynamodb: {
      ...rest,
      ...(time ? { ApproximateCreationDateTime: time.getTime() / 1_000 } : {}),
      ...(Keys ? { Keys: toLambdaItem(Keys) } : {}),
      ...(NewImage ? { NewImage: toLambdaItem(NewImage) } : {}),
      ...(OldImage ? { OldImage: toLambdaItem(OldImage) } : {}),
    },
  };
}

function toLambdaItem(item: Readonly<Record<string, AttributeValue>>): Record<string, LambdaValue> {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, toLambdaValue(value)]));
}

function toLambdaValue(value: AttributeValue): LambdaValue {
  if (value.S !== undefined) return { S: value.S };
  if (value.N !== undefined) return { N: value.N };
  if (value.BOOL !== undefined) return { BOOL: value.BOOL };
  if (value.M !== undefined) return { M: toLambdaItem(value.M) };
  if (value.L !== undefined) return { L: value.L.map(toLambdaValue) };
  if (value.NULL !== undefined) return { NULL: value.NULL };
  if (value.SS !== undefined) return { SS: value.SS };
  if (value.NS !== undefined) return { NS: value.NS };
  if (value.BS !== undefined) return { BS: value.BS.map(toBase64) };
  return { B: toBase64(value.B ?? new Uint8Array()) };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
