import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { createDynamoDB, type DynamoDB } from '../../../../lambdas/stores/dynamodb/dynamodb.ts';
import { createHttpHandler } from '../../../../lambdas/stores/dynamodb/http-handler.ts';

/** A strategy that repeats without a pause, and records how the errors of calls are classified. */
const recordingStrategy = (types: string[]) => ({
  acquireInitialRetryToken: async () => ({ getRetryCount: () => 0, getRetryDelay: () => 0 }),
  refreshRetryTokenForRetry: async (token: { getRetryCount(): number }, { errorType }: { errorType: string }) => {
    types.push(errorType);
    if (token.getRetryCount() > 0 || !/THROTTLING|TRANSIENT/.test(errorType)) throw new Error('no more attempts');
    return { getRetryCount: () => 1, getRetryDelay: () => 0 };
  },
  recordSuccess: () => types.push('success'),
});

export interface Way {
  readonly calls: DynamoDB['hot'];
  readonly types: string[];
}

const limitless = { connectionTimeout: 0, requestTimeout: 0 };

export interface WayOptions {
  readonly endpoint: string;
  readonly maxAttempts: number;
  readonly limits?: typeof limitless;
  readonly config?: DynamoDBClientConfig;
  readonly now?: () => number;
}

const createClient = (
  types: string[],
  { endpoint, maxAttempts, config }: WayOptions,
  handler: DynamoDBClientConfig,
): DynamoDBClient =>
  new DynamoDBClient({
    endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'session' },
    maxAttempts,
    ...(maxAttempts > 1 ? { retryStrategy: recordingStrategy(types) } : {}),
    ...handler,
    ...config,
  });

export const throughSdk = (options: WayOptions): Way => {
  const types: string[] = [];
  const requestHandler = { ...(options.limits ?? limitless), throwOnRequestTimeout: true };
  return { calls: createDynamoDB(createClient(types, options, { requestHandler }), Date.now), types };
};

export const lean = (options: WayOptions): Way => {
  const types: string[] = [];
  const requestHandler = createHttpHandler(options.limits ?? limitless);
  return {
    calls: createDynamoDB(createClient(types, options, { requestHandler }), options.now ?? Date.now).hot,
    types,
  };
};

/** A lean call through the SDK's own request handler, as the command line makes it. */
export const leanOnSdkHandler = (options: WayOptions): Way => {
  const way = throughSdk(options);
  const requestHandler = { ...(options.limits ?? limitless), throwOnRequestTimeout: true };
  return { ...way, calls: createDynamoDB(createClient(way.types, options, { requestHandler }), Date.now).hot };
};

export type Call = (calls: DynamoDB['hot']) => Promise<unknown>;

export const outcomeOf = async (way: Way, call: Call): Promise<unknown> =>
  call(way.calls).catch((error: Error) =>
    error instanceof StoreError ? { kind: error.kind, message: error.message } : { thrown: error.name },
  );
