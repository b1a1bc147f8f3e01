import type { SFNClient } from '@aws-sdk/client-sfn';
import type { ClientOptions } from './clients.ts';

// Apart from `clients.ts`: most functions start no execution, and their bundles must not have this client.

const TIMEOUT_MS = 3_000;

/** One client per process, made when it is first asked for: most functions never start an execution. */
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

/** Repeats a call once: to start an execution again under its name starts nothing. */
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
