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

/** Position up to which a stream was read. A table that was created again has another stream. */
export type Position = { readonly streamArn: string; readonly sequenceNumber: string };

/** No record has this sequence number. */
const beforeAll = '0';

/** Position before the oldest record. */
export const oldest: Position = { streamArn: '', sequenceNumber: beforeAll };

/** Largest page of every engine. */
export const pageMax = 1_000;

export type ChangeStream = {
  readonly arn: string;
  /**
   * Returns the next records since the last call, in order and in Lambda's format, or some of them if there are many.
   * Throws if the engine is not running.
   */
  read(): Promise<readonly DynamoDBRecord[]>;
  close(): void;
};

/**
 * Opens a table's stream after a position. Starts at the oldest record if the position belongs to another stream, and
 * at the end without a position. Returns undefined for a table without a stream.
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
        // An iterator expires after minutes, and this machine may have been suspended.
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

/**
 * On one machine a stream has one shard at a time. If the engine has dropped the position, reads from the oldest
 * record.
 */
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

/** Converts a record to Lambda's format: JSON with times in seconds and bytes in base64. */
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
