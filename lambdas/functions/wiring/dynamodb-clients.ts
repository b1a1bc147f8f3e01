import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

export interface ClientOptions {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
}

/**
 * Two clients, because a hold id must go over the wire once: the SDK's own repeat of a write whose reply was lost would
 * break that. Everything else is safe to repeat and may be, once.
 */
export const createClients = (options: ClientOptions): { once: DynamoDBClient; repeating: DynamoDBClient } => ({
  once: createClient(options, { maxAttempts: 1, requestTimeout: 1_000 }),
  repeating: createClient(options, { maxAttempts: 2, requestTimeout: 2_000 }),
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
