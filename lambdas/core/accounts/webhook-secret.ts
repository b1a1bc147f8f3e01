import type { Clock } from '../clock.ts';
import { invalidRequest } from '../errors/gateway-error.ts';
import { retryUntilDefinite } from '../retry.ts';

/** Secret with which an account's webhooks are signed. It does not depend on an API key. */
export interface WebhookSecret {
  /** 1 for the first secret. Each rotation adds 1. */
  readonly version: number;
  /** `whsec_` and 32 bytes in base64, as in Standard Webhooks. */
  readonly secret: string;
  /** Unix ms. */
  readonly createdAtMs: number;
  /** Secret before the last rotation, and the Unix ms until which it also signs. */
  readonly previous?: { readonly secret: string; readonly untilMs: number } | undefined;
}

/** Store of the secrets. Each method is one call, safe to repeat. Throws StoreError if the result is not definite. */
export interface WebhookSecretStore {
  /** Reads consistently. */
  read(accountId: string): Promise<WebhookSecret | undefined>;
  /** Replaces the secret of the version before. Returns false, and writes nothing, if another version is stored. */
  put(accountId: string, secret: WebhookSecret): Promise<boolean>;
}

export interface WebhookSecretDependencies {
  readonly webhookSecrets: WebhookSecretStore;
  /** 32 unpredictable bytes. */
  readonly newKeyBytes: () => Uint8Array;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Time that a replaced secret still signs, in ms. */
export const PREVIOUS_SECRET_MS = 24 * 60 * 60 * 1_000;

const newSecret = ({ newKeyBytes, clock }: WebhookSecretDependencies, version: number): WebhookSecret => ({
  version,
  secret: `whsec_${Buffer.from(newKeyBytes()).toString('base64')}`,
  createdAtMs: clock.now(),
});

/** Returns the account's secret and creates the first one. Throws StoreError. */
export const readWebhookSecret = async (deps: WebhookSecretDependencies, accountId: string): Promise<WebhookSecret> =>
  (await read(deps, accountId)) ?? store(deps, accountId, newSecret(deps, 1));

/**
 * Replaces the account's secret if it has this version, and returns the present one. The replaced one signs for 24 hours
 * more. Safe to repeat: rotations of one version are made once. Throws 400 `version` for a later version, and StoreError.
 */
export const rotateWebhookSecret = async (
  deps: WebhookSecretDependencies,
  accountId: string,
  version: number,
): Promise<WebhookSecret> => {
  const before = await readWebhookSecret(deps, accountId);
  if (version < before.version) return before;
  if (version > before.version) {
    const message = `version: the present secret has version ${before.version}. Send this version.`;
    throw invalidRequest('version', message);
  }
  const after = newSecret(deps, before.version + 1);
  const previous = { secret: before.secret, untilMs: after.createdAtMs + PREVIOUS_SECRET_MS };
  return store(deps, accountId, { ...after, previous });
};

/** Returns the secrets that sign now, the newest first. */
export const signingSecrets = ({ secret, previous }: WebhookSecret, nowMs: number): readonly string[] =>
  previous && nowMs < previous.untilMs ? [secret, previous.secret] : [secret];

const read = (deps: WebhookSecretDependencies, accountId: string): Promise<WebhookSecret | undefined> =>
  retryUntilDefinite(deps, () => deps.webhookSecrets.read(accountId));

/** Returns the stored secret: the given one, or the one of a faster request. */
const store = async (
  deps: WebhookSecretDependencies,
  accountId: string,
  secret: WebhookSecret,
): Promise<WebhookSecret> => {
  if (await retryUntilDefinite(deps, () => deps.webhookSecrets.put(accountId, secret))) return secret;
  // After a lost reply, the read finds the own secret.
  const present = await read(deps, accountId);
  if (!present) throw new Error(`the webhook secret of ${accountId} is gone`);
  return present;
};
