import * as z from 'zod';
import { authorize } from '../../core/accounts/key-change.ts';
import type { KeyStore } from '../../core/accounts/key-store.ts';
import {
  readWebhookSecret,
  rotateWebhookSecret,
  signingSecrets,
  type WebhookSecret,
  type WebhookSecretDependencies,
} from '../../core/accounts/webhook-secret.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { AddressLimit } from '../../core/limits/rate-limit.ts';
import { webhookSecretOf } from '../../core/signature.ts';
import type { DeliveryResult } from '../../core/webhook-delivery.ts';
import { credentialForms } from '../../http/authenticate.ts';
import { admissionOf, type Exchange, type GatewayResponse, json, type RouteHandler } from '../../http/exchange.ts';
import { orUnavailable } from '../account-reads.ts';
import { parseWith } from '../parse.ts';

const UNAVAILABLE = 'The webhook secret cannot be read now. Retry later.';

const noStore = { 'cache-control': 'no-store' };

const toIso = (ms: number): string => new Date(ms).toISOString();

const toSecretObject = ({ version, secret, createdAtMs, previous }: WebhookSecret, nowMs: number) => ({
  object: 'webhook_secret',
  secret,
  version,
  created_at: toIso(createdAtMs),
  previous_valid_until: previous && nowMs < previous.untilMs ? toIso(previous.untilMs) : null,
});

export interface SecretDependencies extends WebhookSecretDependencies {
  readonly keys: Pick<KeyStore, 'ring'>;
}

/** Calls `work` for an API key with the right `manage`. Throws 403 `key_right_missing` for another one. */
const answerSecret = async (
  { keys, clock }: SecretDependencies,
  exchange: Exchange,
  work: (accountId: string) => Promise<WebhookSecret>,
): Promise<GatewayResponse> => {
  const { accountId, key } = admissionOf(exchange);
  authorize(await orUnavailable(keys.ring(accountId), UNAVAILABLE), { keyId: key.keyId });
  return json(200, toSecretObject(await orUnavailable(work(accountId), UNAVAILABLE), clock.now()), noStore);
};

/** GET /api/webhooks/secret (HOOK-2): the first call creates the secret. */
export const createGetWebhookSecret =
  (deps: SecretDependencies): RouteHandler =>
  (exchange) =>
    answerSecret(deps, exchange, (accountId) => readWebhookSecret(deps, accountId));

const versionMessage = 'must be the version of the present secret';

/** Rejects any other field by name (GEN-9). */
export const rotateBody = z.strictObject({ version: z.int(versionMessage).min(1, versionMessage) });

/** POST /api/webhooks/secret/rotate (HOOK-2). */
export const createRotateWebhookSecret =
  (deps: SecretDependencies): RouteHandler =>
  async (exchange) => {
    const { version } = parseWith(rotateBody, exchange.body?.json);
    return answerSecret(deps, exchange, (accountId) => rotateWebhookSecret(deps, accountId, version));
  };

/** Rejects any other field by name (GEN-9). */
export const testBody = z.strictObject({ url: z.string('must be a string with an http(s) URL') });

interface TestDelivery {
  readonly url: string;
  readonly id: string;
  readonly body: string;
  readonly secrets: readonly string[];
  readonly keySecret: string;
}

export interface TestWebhookDependencies extends WebhookSecretDependencies {
  /** Returns the problem of a URL as a sentence. Undefined if the URL looks valid so far. */
  readonly checkWebhookUrl: (url: string) => string | undefined;
  readonly sendWebhook: (delivery: TestDelivery) => Promise<DeliveryResult>;
  /** Limits the tests of an account over all processes. */
  readonly testLimit: AddressLimit;
}

const RETRY_SECONDS = 10;

const limitTests = async (limit: AddressLimit, accountId: string): Promise<void> => {
  const name = `webhook-test#${accountId}`;
  if (limit.takeLocal(name) && (await limit.takeShared(name))) return;
  throw new GatewayError('rate_limit_exceeded', `Too many webhook tests. Retry after ${RETRY_SECONDS} seconds.`, {
    retryAfterSeconds: RETRY_SECONDS,
  });
};

/** Throws the 400 that names the field. */
const readUrl = ({ body }: Exchange, check: TestWebhookDependencies['checkWebhookUrl']): string => {
  const { url } = parseWith(testBody, body?.json);
  const problem = check(url);
  if (problem !== undefined) throw invalidRequest('url', `url: ${problem}`);
  return url.toWellFormed();
};

/** POST /api/webhooks/test (HOOK-3): sends one signed event and returns the result. Never repeats it. */
export const createTestWebhook =
  (deps: TestWebhookDependencies): RouteHandler =>
  async (exchange): Promise<GatewayResponse> => {
    const { clock, checkWebhookUrl, sendWebhook, testLimit } = deps;
    const { accountId } = admissionOf(exchange);
    const url = readUrl(exchange, checkWebhookUrl);
    await limitTests(testLimit, accountId);
    const apiKey = credentialForms.bearer.read(exchange.event.headers, {});
    if (apiKey === undefined) throw new Error('a webhook test was requested without an API key');
    const secret = await orUnavailable(readWebhookSecret(deps, accountId), UNAVAILABLE);
    const startedAtMs = clock.now();
    const id = `evt_test_${exchange.requestId}`;
    const { status, problem } = await sendWebhook({
      url,
      id,
      body: toTestBody(id, startedAtMs),
      secrets: signingSecrets(secret, startedAtMs),
      keySecret: webhookSecretOf(apiKey),
    });
    return json(200, {
      object: 'webhook_test',
      id,
      delivered: problem === undefined,
      status: status ?? null,
      error: problem ?? null,
      duration_ms: clock.now() - startedAtMs,
    });
  };

const toTestBody = (id: string, atMs: number): string =>
  JSON.stringify({
    id,
    object: 'event',
    type: 'webhook.test',
    created_at: Math.floor(atMs / 1_000),
    data: { object: 'webhook_test' },
  });
