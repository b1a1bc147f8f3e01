import type { Settings } from '../../settings.ts';

type ReadParameter = (name: string) => Promise<string | undefined>;

/** Parameter Store allows few requests per second, and many processes can start concurrently. */
const MAX_ATTEMPTS = 6;

/** Reads a parameter. Loads the SDK on demand. Returns undefined if the parameter does not exist. */
export const readParameter = async (name: string, region?: string): Promise<string | undefined> => {
  const { GetParameterCommand, ParameterNotFound, SSMClient } = await import('@aws-sdk/client-ssm');
  const client = new SSMClient({
    ...(region === undefined ? {} : { region }),
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
  });
  try {
    const { Parameter } = await client.send(new GetParameterCommand({ Name: name }));
    return Parameter?.Value;
  } catch (error) {
    if (error instanceof ParameterNotFound) return undefined;
    throw error;
  } finally {
    client.destroy();
  }
};

/**
 * Returns the public base URL without a trailing slash; undefined if it is not configured or the front door does not
 * exist yet.
 */
export const readPublicUrl = async (
  { PUBLIC_URL, PUBLIC_URL_PARAMETER }: Pick<Settings, 'PUBLIC_URL' | 'PUBLIC_URL_PARAMETER'>,
  read: ReadParameter = (name) => readParameter(name),
): Promise<string | undefined> => {
  const url = PUBLIC_URL ?? (PUBLIC_URL_PARAMETER && (await read(PUBLIC_URL_PARAMETER)));
  if (!url) return undefined;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new Error('PUBLIC_URL_PARAMETER: the parameter must hold a URL such as https://api.example.com');
  }
  return url.replace(/\/+$/, '');
};
