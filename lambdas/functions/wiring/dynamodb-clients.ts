import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamoDB, type DynamoDB } from '../../stores/dynamodb/dynamodb.ts';

export interface ClientOptions {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
}

interface Clients {
  readonly once: DynamoDBClient;
  readonly repeating: DynamoDBClient;
}

/**
 * Two clients, because a hold id must go over the wire once, and the SDK repeats a write whose response is lost. Every other call is
 * safe to repeat once.
 */
export const createClients = (options: ClientOptions): Clients => ({
  once: createClient(options, { maxAttempts: 1, requestTimeout: 1_000 }),
  repeating: createClient(options, { maxAttempts: 2, requestTimeout: 2_000 }),
});

/** The same two as the stores use them. */
export const createDatabases = ({ once, repeating }: Clients): { once: DynamoDB; repeating: DynamoDB } => ({
  once: createDynamoDB(once),
  repeating: createDynamoDB(repeating),
});

interface Patience {
  readonly maxAttempts: number;
  /** Milliseconds for one attempt. */
  readonly requestTimeout: number;
}

const createClient = ({ endpoint, region }: ClientOptions, { maxAttempts, requestTimeout }: Patience): DynamoDBClient =>
  new DynamoDBClient({
    maxAttempts,
    ...(endpoint === undefined ? {} : { endpoint, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
    ...(region === undefined ? {} : { region }),
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout,
      throwOnRequestTimeout: true,
      httpsAgent: { maxSockets: 500 },
      httpAgent: { maxSockets: 500 },
    },
  });
