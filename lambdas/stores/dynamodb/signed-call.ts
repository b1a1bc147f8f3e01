import { text } from 'node:stream/consumers';
import { RecentMap } from '../../core/recent-map.ts';
import type { AttributeValues } from './attribute-values.ts';
import { type Retries, withRetries } from './retries.ts';
import { type Credentials, createSigner, type Scope } from './sign-request.ts';

type Operation = 'PutItem' | 'UpdateItem';

interface Reply {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The SDK's own handler leaves the stream here. */
  readonly body: Uint8Array | NodeJS.ReadableStream;
}

/** The part of an SDK client's configuration that a call uses. */
export interface CallConfig extends Retries {
  /** Time of the table minus time of this process in ms. The SDK's own calls use and update it too. */
  systemClockOffset: number;
  disableClockSkewCorrection(): Promise<boolean>;
  credentials(): Promise<Credentials & { readonly accountId?: string | undefined }>;
  readonly requestHandler: { handle(request: object): Promise<{ readonly response: Reply }> };
}

/** Endpoint of a table, as the SDK resolves it. */
export interface CallTarget extends Scope {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: number | undefined;
  readonly path: string;
  /** Further headers that the endpoint requires. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Result of a successful call, or of one that the table refused. */
interface CallResult {
  readonly Attributes?: AttributeValues | undefined;
  readonly Item?: AttributeValues | undefined;
  readonly __type?: string | number;
  readonly code?: string;
  readonly message?: string;
  readonly Message?: string;
}

export interface ErrorReply {
  readonly name: string;
  readonly message: string;
  readonly $metadata: { readonly httpStatusCode: number; readonly requestId: string | undefined };
  /** Stored item, if the call requested it and its condition failed. */
  readonly item: AttributeValues | undefined;
}

export interface CallParts {
  readonly config: CallConfig;
  readonly now: () => number;
  readonly resolveTarget: (table: string) => Promise<CallTarget>;
  readonly toError: (reply: ErrorReply) => Error;
}

/** Sends one call. Throws what the client's handler and `toError` return, and a SyntaxError for an invalid response. */
type SendCall = <Input extends { readonly TableName: string }>(
  operation: Operation,
  input: Input,
) => Promise<CallResult>;

interface Call {
  readonly table: string;
  readonly body: string;
  /** Headers that are the same for each attempt. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Number of accounts and tables whose endpoints are kept. */
const TARGETS_MAX = 32;

/**
 * Creates a way to send calls with less work than through the SDK's commands. The client provides its credentials,
 * endpoints, connections, time limits and retries at each call. A client with one attempt sends a call once, whatever
 * happens.
 */
export const createSignedCalls = (parts: CallParts): SendCall => {
  const { config } = parts;
  const targetOf = createTargets(parts);
  const sign = createSigner();
  const attempt = async (call: Call, attempts: string): Promise<CallResult> => {
    const credentials = await config.credentials();
    const target = await targetOf(call.table, credentials.accountId);
    const clock = await startClock(parts);
    const unsigned = {
      path: target.path,
      headers: { ...target.headers, ...call.headers, host: hostOf(target), 'amz-sdk-request': attempts },
      body: call.body,
    };
    const headers = sign(unsigned, credentials, target, clock.nowMs);
    const { protocol, hostname, port, path } = target;
    const request = { protocol, hostname, port, method: 'POST', path, query: {}, headers, body: call.body };
    try {
      const { response } = await config.requestHandler.handle(request);
      return await read(response, parts.toError, clock.correct(response.headers));
    } catch (error) {
      throw asSent(error);
    }
  };
  return async (operation, input) => {
    const call = toCall(operation, input);
    return withRetries(config, (tried, max) => attempt(call, `attempt=${tried}; max=${max}`));
  };
};

const toCall = (operation: Operation, input: { readonly TableName: string }): Call => {
  const body = JSON.stringify(input);
  return {
    table: input.TableName,
    body,
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': `${Buffer.byteLength(body)}`,
      'x-amz-target': `DynamoDB_20120810.${operation}`,
    },
  };
};

/** Endpoint in the context of an SDK command. */
export interface ResolvedEndpoint {
  readonly endpointV2?: { readonly url: URL; readonly headers?: Readonly<Record<string, readonly string[]>> };
  readonly authSchemes?: readonly { readonly signingName?: string; readonly signingRegion?: string }[];
}

/** Returns undefined without an endpoint. The SDK's endpoints have no query. */
export const toTarget = (
  { endpointV2, authSchemes }: ResolvedEndpoint,
  clientRegion: string,
): CallTarget | undefined => {
  if (!endpointV2) return undefined;
  const { protocol, hostname, port, pathname } = endpointV2.url;
  const [{ signingRegion: region = clientRegion, signingName: service = 'dynamodb' } = {}] = authSchemes ?? [];
  const headers = Object.entries(endpointV2.headers ?? {}).map(([name, values]) => [
    name.toLowerCase(),
    values.join(', '),
  ]);
  return {
    region,
    service,
    protocol,
    hostname,
    port: port ? Number(port) : undefined,
    path: pathname.endsWith('/') ? pathname : `${pathname}/`,
    headers: Object.fromEntries(headers),
  };
};

const hostOf = ({ hostname, port }: CallTarget): string => (port === undefined ? hostname : `${hostname}:${port}`);

/** The endpoint can depend on the account of the credentials, and on a table that is named by its ARN. */
const createTargets = ({ resolveTarget }: CallParts) => {
  const targets = new RecentMap<CallTarget>(TARGETS_MAX);
  return async (table: string, accountId = ''): Promise<CallTarget> => {
    const key = `${accountId} ${table}`;
    const known = targets.get(key);
    if (known) return known;
    const target = await resolveTarget(table);
    targets.set(key, target);
    return target;
  };
};

/** From this difference on, the table rejects signatures. */
const SKEW_MS_MIN = 240_000;
/** A response that took longer says too little about the table's clock. */
const SAMPLE_MS_MAX = 900_000;

/** Corrects the clock as the SDK does: by the time of the last response. */
const startClock = async ({ config, now }: CallParts) => {
  const sentMs = now();
  if (await config.disableClockSkewCorrection()) return { nowMs: sentMs, correct: () => false };
  const offsetMs = config.systemClockOffset;
  return {
    nowMs: sentMs + offsetMs,
    /** Returns whether the clock was so wrong that the call failed for that reason. */
    correct: ({ date, age }: Reply['headers']): boolean => {
      const nowMs = now();
      const tableMs = date === undefined || age !== undefined ? Number.NaN : Date.parse(date);
      if (!Number.isNaN(tableMs) && nowMs - sentMs <= SAMPLE_MS_MAX) config.systemClockOffset = tableMs - nowMs;
      return config.systemClockOffset !== offsetMs && Math.abs(config.systemClockOffset) >= SKEW_MS_MIN;
    },
  };
};

/** Throws a SyntaxError for a text that is not JSON. */
const read = async (reply: Reply, toError: CallParts['toError'], clockSkewCorrected: boolean): Promise<CallResult> => {
  const { statusCode, headers, body } = reply;
  const content = await (body instanceof Uint8Array ? Buffer.from(body).toString() : text(body));
  const $metadata = { httpStatusCode: statusCode, requestId: headers['x-amzn-requestid'], clockSkewCorrected };
  const result = parse(content, $metadata);
  if (statusCode < 300) return result ?? {};
  const type = result?.__type ?? result?.code ?? headers['x-amzn-errortype'];
  const message = result?.message ?? result?.Message ?? 'UnknownError';
  throw toError({ name: nameOf(type), message, $metadata, item: result?.Item });
};

const parse = (content: string, $metadata: object): CallResult | null => {
  if (content === '') return null;
  try {
    return JSON.parse(content);
  } catch (error) {
    throw Object.assign(error instanceof Error ? error : new Error('an invalid response'), { $metadata });
  }
};

/** Takes the name of `com.amazonaws.dynamodb.v20120810#ThrottlingException:http://...`. */
const nameOf = (type: string | number | undefined): string => {
  const [first = ''] = `${type ?? 'Unknown'}`.split(/[,:]/);
  return first.includes('#') ? (first.split('#')[1] ?? '') : first;
};

/** Marks an error of a call that was sent, so that it never looks like an error before it. */
const asSent = (thrown: unknown): Error => {
  const error = thrown instanceof Error ? thrown : new Error('the call failed', { cause: thrown });
  return '$metadata' in error ? error : Object.assign(error, { $metadata: {} });
};
