import type { ClientRequest, IncomingMessage } from 'node:http';
import { signBody } from '../core/signature.ts';
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
  /** Secret with which the client can check the signature. */
  readonly secret: string;
  /** JSON text. */
  readonly body: string;
}

/**
 * Delivers once; any 2xx response confirms it. Throws an Error otherwise. Its message has neither the secret nor the
 * URL, because the query can be a secret, too.
 */
export type WebhookSender = (delivery: Delivery) => Promise<void>;

export interface WebhookDependencies {
  readonly lookup: LookupAll;
  readonly now: () => number;
  /** Limit in ms for all steps: DNS, connection and response. */
  readonly timeoutMs?: number;
  /** Only tests set it, because their server is not public. */
  readonly reach?: Reach;
}

const TIMEOUT_MS = 10_000;
const URL_CHARACTERS_MAX = 2_048;

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
  return async ({ url, secret, body }) => {
    const target = parsePublicUrl(url, rules(reach));
    if ('problem' in target) throw undelivered(target.problem);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'model-gateway-webhook/1',
      'x-service-signature': signBody(secret, body, Math.floor(now() / 1_000)),
    };
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      const sent = requestPublic(target, { method: 'POST', headers, lookup, signal: late.signal });
      const { statusCode = 0 } = await answerTo(sent, body, late.signal);
      if (statusCode < 200 || statusCode > 299) throw undelivered(`the server returned ${statusCode}.`);
    } finally {
      clearTimeout(timer);
    }
  };
};

const undelivered = (why: string): Error => new Error(`The webhook was not delivered: ${why}`);

/** Only the status counts. The rest of the response is not read, and its connection is closed. */
const answerTo = (sent: ClientRequest, body: string, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const fail = (): void =>
      reject(undelivered(signal.aborted ? 'the server did not respond in time.' : 'the server cannot be reached.'));
    sent.on('error', fail);
    // A switch of protocols (101) ends the request without an error.
    sent.once('close', fail);
    sent.once('response', (response) => {
      resolve(response);
      response.destroy();
    });
    sent.end(body);
  });
