import type { ClientRequest } from 'node:http';
import { signBody, signEvent } from '../core/signature.ts';
import type { DeliveryResult } from '../core/webhook-delivery.ts';
import {
  createGuardedLookup,
  type LookupAll,
  parsePublicUrl,
  publicWeb,
  type Reach,
  requestPublic,
} from './public-address.ts';

export interface Delivery {
  readonly url: string;
  /** Id of the event, the same in every attempt. */
  readonly id: string;
  /** JSON text. */
  readonly body: string;
  /** Signing secrets of the account, the newest first (HOOK-1). */
  readonly secrets: readonly string[];
  /** Secret of an API key, which signs `X-Service-Signature` (VID-7). */
  readonly keySecret: string;
}

/**
 * Delivers once; any 2xx response confirms it. A problem has neither a secret nor the URL, because the query can be a
 * secret, too. Does not throw.
 */
export type WebhookSender = (delivery: Delivery) => Promise<DeliveryResult>;

export interface WebhookDependencies {
  readonly lookup: LookupAll;
  readonly now: () => number;
  /** Limit in ms for all steps: DNS, connection and response. */
  readonly timeoutMs?: number;
  /** Only tests set it, because their server is not public. */
  readonly reach?: Reach;
}

const TIMEOUT_MS = 10_000;
export const URL_CHARACTERS_MAX = 2_048;

const rules = (reach: Reach) => ({ charactersMax: URL_CHARACTERS_MAX, reach, inner: 'the URL must be public.' });

/** Names that no public server has: https://www.rfc-editor.org/rfc/rfc6761#section-6.3, and names of one label. */
const innerName = /^(?:[^.:[]+|(?:.+\.)?localhost)\.?$/;

/**
 * Returns the problem of a webhook URL, worded for the client, if the problem can be found without a DNS lookup.
 * Undefined otherwise.
 */
export const webhookUrlProblem = (url: string, reach: Reach = publicWeb): string | undefined => {
  const parsed = parsePublicUrl(url, rules(reach));
  if ('problem' in parsed) return parsed.problem;
  return innerName.test(parsed.hostname) ? rules(reach).inner : undefined;
};

export const createWebhookSender = (deps: WebhookDependencies): WebhookSender => {
  const { now, reach = publicWeb, timeoutMs = TIMEOUT_MS } = deps;
  const lookup = createGuardedLookup(deps.lookup, reach.address);
  return async ({ url, id, body, secrets, keySecret }) => {
    const target = parsePublicUrl(url, rules(reach));
    if ('problem' in target) return { status: undefined, problem: target.problem };
    const unixSeconds = Math.floor(now() / 1_000);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'model-gateway-webhook/1',
      'webhook-id': id,
      'webhook-timestamp': String(unixSeconds),
      'webhook-signature': signEvent(secrets, { id, unixSeconds, body }),
      'x-service-signature': signBody(keySecret, body, unixSeconds),
    };
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      const sent = requestPublic(target, { method: 'POST', headers, lookup, signal: late.signal });
      return toResult(await answerTo(sent, body), late.signal);
    } finally {
      clearTimeout(timer);
    }
  };
};

const toResult = (status: number | undefined, { aborted }: AbortSignal): DeliveryResult => {
  if (status === undefined)
    return { status, problem: aborted ? 'the server did not respond in time.' : 'the server cannot be reached.' };
  return { status, problem: status >= 200 && status <= 299 ? undefined : `the server returned ${status}.` };
};

/**
 * Returns the status; undefined without a response. Only the status counts. The rest of the response is not read, and
 * its connection is closed.
 */
const answerTo = (sent: ClientRequest, body: string): Promise<number | undefined> =>
  new Promise((resolve) => {
    const fail = (): void => resolve(undefined);
    sent.on('error', fail);
    // A switch of protocols (101) ends the request without an error.
    sent.once('close', fail);
    sent.once('response', (response) => {
      resolve(response.statusCode);
      response.destroy();
    });
    sent.end(body);
  });
