import { expect, test } from 'vitest';
import {
  PREVIOUS_SECRET_MS,
  readWebhookSecret,
  rotateWebhookSecret,
  signingSecrets,
  type WebhookSecretStore,
} from '../../../../lambdas/core/accounts/webhook-secret.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryWebhookSecrets } from '../../../support/memory/memory-webhook-secrets.ts';

const NOW = Date.UTC(2026, 10, 1);

const world = (change: (store: MemoryWebhookSecrets) => Partial<WebhookSecretStore> = () => ({})) => {
  const clock = new ManualClock(NOW);
  const stored = new MemoryWebhookSecrets();
  let made = 0;
  const newKeyBytes = () => new Uint8Array(32).fill(++made);
  const webhookSecrets = {
    read: (accountId: string) => stored.read(accountId),
    put: (...args: Parameters<WebhookSecretStore['put']>) => stored.put(...args),
    ...change(stored),
  };
  return { deps: { webhookSecrets, newKeyBytes, clock, random: () => 0 }, clock, stored };
};
const secretOf = (byte: number): string => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;

test('HOOK-2 the first read creates the secret of an account, and later reads return it', async () => {
  const { deps } = world();
  const secret = await readWebhookSecret(deps, 'a');
  expect(secret).toEqual({ version: 1, secret: secretOf(1), createdAtMs: NOW });
  expect(await readWebhookSecret(deps, 'a')).toEqual(secret);
  expect((await readWebhookSecret(deps, 'b')).secret).toBe(secretOf(2));
});

test('HOOK-2 first reads at the same time return one secret', async () => {
  const { deps } = world();
  const secrets = await Promise.all([1, 2, 3].map(() => readWebhookSecret(deps, 'a')));
  expect(new Set(secrets.map(({ secret }) => secret)).size).toBe(1);
});

test('HOOK-2 a rotation replaces the secret, and the replaced one signs for 24 hours', async () => {
  const { deps, clock } = world();
  await readWebhookSecret(deps, 'a');
  await clock.advance(1_000);
  const rotated = await rotateWebhookSecret(deps, 'a', 1);
  const untilMs = NOW + 1_000 + PREVIOUS_SECRET_MS;
  const previous = { secret: secretOf(1), untilMs };
  expect(rotated).toEqual({ version: 2, secret: secretOf(2), createdAtMs: NOW + 1_000, previous });
  expect(await readWebhookSecret(deps, 'a')).toEqual(rotated);
  expect(signingSecrets(rotated, untilMs - 1)).toEqual([secretOf(2), secretOf(1)]);
  expect(signingSecrets(rotated, untilMs)).toEqual([secretOf(2)]);
});

test('HOOK-2 a rotation of an account without a secret creates and replaces it', async () => {
  const { deps } = world();
  expect(await rotateWebhookSecret(deps, 'a', 1)).toMatchObject({ version: 2, secret: secretOf(2) });
});

test('HOOK-2 rotations at the same time rotate once and return the same secret', async () => {
  const { deps } = world();
  await readWebhookSecret(deps, 'a');
  const rotated = await Promise.all([1, 2, 3].map(() => rotateWebhookSecret(deps, 'a', 1)));
  expect(new Set(rotated.map(({ secret, version }) => `${version} ${secret}`)).size).toBe(1);
  expect(rotated[0]).toMatchObject({ version: 2, previous: { secret: secretOf(1) } });
});

test('HOOK-2 a repeated rotation changes nothing, and a later version is 400', async () => {
  const { deps } = world();
  const rotated = await rotateWebhookSecret(deps, 'a', 1);
  expect(await rotateWebhookSecret(deps, 'a', 1)).toEqual(rotated);
  await expect(rotateWebhookSecret(deps, 'a', 3)).rejects.toMatchObject({
    param: 'version',
    message: 'version: the present secret has version 2. Send this version.',
  });
  expect(await rotateWebhookSecret(deps, 'a', 2)).toMatchObject({ version: 3, previous: { secret: rotated.secret } });
});

test('HOOK-2 a rotation whose reply was lost is made once', async () => {
  let isLost = true;
  const { deps, clock } = world((stored) => ({
    put: async (accountId, secret) => {
      const isWritten = await stored.put(accountId, secret);
      if (secret.version === 1 || !isLost) return isWritten;
      isLost = false;
      throw new StoreError('unavailable', 'no reply');
    },
  }));
  const rotated = await clock.until(rotateWebhookSecret(deps, 'a', 1));
  expect(rotated).toMatchObject({ version: 2, secret: secretOf(2), previous: { secret: secretOf(1) } });
});

test('HOOK-2 a store that fails throws StoreError', async () => {
  const { deps, clock } = world(() => ({ read: () => Promise.reject(new StoreError('unavailable', 'down')) }));
  await expect(clock.until(readWebhookSecret(deps, 'a'))).rejects.toThrow(StoreError);
});
