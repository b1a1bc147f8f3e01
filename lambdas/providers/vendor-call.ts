import type { Provider } from '../core/catalog/schema.ts';
import type { GatewayError } from '../core/errors/gateway-error.ts';
import type { JsonObject } from '../core/json.ts';
import type { ProviderEvent } from '../core/metrics.ts';
import type { ProviderAccess } from './credential-choice.ts';
import { readJson } from './read-json.ts';
import type { RefusalContext } from './refusals.ts';
import type { UpstreamHttp, UpstreamResponse } from './upstream-http.ts';

/** Dependencies of every wire. */
export interface WireOptions {
  readonly http: UpstreamHttp;
  /** Chooses a credential of a provider in this environment: by weight, or the one with this id. */
  readonly access: (providerId: string, credentialId?: string) => ProviderAccess;
  readonly notice: (notice: ProviderEvent, providerId: string) => void;
  readonly now: () => number;
  readonly random: () => number;
}

export interface VendorCall {
  readonly provider: Provider;
  /** Credential of the job that the call is about. By default the call may use any. */
  readonly credentialId?: string | undefined;
  /** Path below the provider's base URL, with its query. */
  readonly path: string;
  /** Sent as JSON. A call with neither a body nor a form is a GET. */
  readonly body?: JsonObject | undefined;
  readonly form?: FormData | undefined;
  readonly streamed: boolean;
  /** Added to the headers of the provider's catalog entry, which take precedence. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** For responses that are not JSON. */
  readonly accept?: string;
  /** Statuses that are not refusals. Default: 200. */
  readonly accepts?: (status: number) => boolean;
  readonly signal: AbortSignal;
  /** Whether the call is free. Its limit is another one, so a 429 does not pause the credential for paid calls. */
  readonly isFree?: true;
  /** Error for a refused call. The body is undefined if it cannot be read. */
  readonly refuse: (status: number, body: unknown, refusalContext: RefusalContext) => GatewayError;
}

export interface VendorAnswer {
  readonly response: UpstreamResponse;
  /** Context for errors inside a successful response. */
  readonly refusalContext: RefusalContext;
  /** Credential of the call. */
  readonly credentialId: string;
}

interface Payload {
  readonly contentType?: string | undefined;
  readonly body: string;
  readonly bytes?: Uint8Array;
}

/**
 * Sends one call with one credential of the provider. Returns the response if its status is accepted, otherwise throws the
 * error of `refuse`.
 */
export const callVendor = async (options: WireOptions, call: VendorCall): Promise<VendorAnswer> => {
  const { provider, path, streamed, signal, refuse, accepts = isOk } = call;
  const { baseUrl, key, credentialId, cooldown } = options.access(provider.id, call.credentialId);
  const { header, scheme } = provider.credential;
  const { contentType, ...payload }: Payload = call.form ? await encode(call.form) : toPayload(call.body);
  const response = await options.http({
    method: contentType === undefined ? 'GET' : 'POST',
    url: `${baseUrl.replace(/\/+$/, '')}${path}`,
    headers: {
      ...(contentType !== undefined && { 'content-type': contentType }),
      accept: call.accept ?? (streamed ? 'text/event-stream' : 'application/json'),
      'accept-encoding': 'identity',
      ...call.headers,
      ...provider.headers,
      [header.toLowerCase()]: scheme ? `${scheme} ${key}` : key,
    },
    ...payload,
    signal,
  });
  const refusalContext: RefusalContext = {
    retryAfterSeconds: retryAfterSeconds(response.headers['retry-after'], options.now(), options.random),
    secret: key,
    notice: (notice) => {
      // The provider's models stay available with another credential, so only that credential is reported.
      if (notice === 'vendor_refused_us' && cooldown?.refused()) return;
      options.notice(notice, provider.id);
    },
    limited: cooldown && !call.isFree ? (seconds) => cooldown.limited(seconds) : undefined,
  };
  if (accepts(response.status)) return { response, refusalContext, credentialId };
  throw refuse(response.status, await readJson(response).catch(() => undefined), refusalContext);
};

const isOk = (status: number): boolean => status === 200;

const toPayload = (body: JsonObject | undefined): Payload =>
  body === undefined ? { body: '' } : { contentType: 'application/json', body: JSON.stringify(body) };

/** Encodes a form as multipart. Only the encoder knows the boundary, which it puts in the content type. */
const encode = async (form: FormData): Promise<Payload> => {
  const encoded = new Response(form);
  return {
    contentType: encoded.headers.get('content-type') ?? 'multipart/form-data',
    body: '',
    bytes: new Uint8Array(await encoded.arrayBuffer()),
  };
};

/**
 * ERR-2: the provider's seconds, limited to 1 to 300. Without any, a random number from 5 to 30, so that clients do not
 * return together.
 */
export const retryAfterSeconds = (
  header: string | string[] | undefined,
  nowMs: number,
  random: () => number,
): number => {
  const text = Array.isArray(header) ? header[0] : header;
  const seconds = text === undefined ? Number.NaN : secondsOf(text, nowMs);
  if (Number.isNaN(seconds)) return 5 + Math.floor(random() * 26);
  return Math.min(300, Math.max(1, Math.ceil(seconds)));
};

const secondsOf = (text: string, nowMs: number): number =>
  /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : (Date.parse(text) - nowMs) / 1_000;
