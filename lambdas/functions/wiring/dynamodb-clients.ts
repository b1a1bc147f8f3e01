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
  once: createClient(options, 1),
  repeating: createClient(options, 2),
});

const createClient = ({ endpoint, region }: ClientOptions, maxAttempts: number): DynamoDBClient =>
  new DynamoDBClient({
    maxAttempts,
    ...(endpoint === undefined ? {} : { endpoint, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
    ...(region === undefined ? {} : { region }),
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: 2_000,
      throwOnRequestTimeout: true,
      httpsAgent: { maxSockets: 500 },
      httpAgent: { maxSockets: 500 },
    },
  });
