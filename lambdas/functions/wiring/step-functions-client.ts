import type { SFNClient } from '@aws-sdk/client-sfn';
import type { ClientOptions } from './clients.ts';

// Separate from `clients.ts`, because most functions start no execution and their bundles must not contain this client.

const TIMEOUT_MS = 3_000;

/** Creates one client per process, on first use, because most functions start no execution. */
export const createStepFunctionsAccess = (
  options: ClientOptions,
  timeoutMs = TIMEOUT_MS,
): (() => Promise<SFNClient>) => {
  let client: Promise<SFNClient> | undefined;
  return () => {
    client ??= createStepFunctionsClient(options, timeoutMs);
    return client;
  };
};

/** Repeats a call once. Starting an execution again under the same name has no effect. */
const createStepFunctionsClient = async (
  { endpoint, region }: ClientOptions,
  timeoutMs: number,
): Promise<SFNClient> => {
  const { SFNClient } = await import('@aws-sdk/client-sfn');
  return new SFNClient({
    maxAttempts: 2,
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: timeoutMs,
      throwOnRequestTimeout: true,
      socketTimeout: timeoutMs,
    },
  });
};
