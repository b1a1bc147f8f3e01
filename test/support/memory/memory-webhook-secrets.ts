import type { WebhookSecret, WebhookSecretStore } from '../../../lambdas/core/accounts/webhook-secret.ts';

/** In-memory fake of the signing secrets. */
export class MemoryWebhookSecrets implements WebhookSecretStore {
  readonly #secrets = new Map<string, WebhookSecret>();

  async read(accountId: string): Promise<WebhookSecret | undefined> {
    return structuredClone(this.#secrets.get(accountId));
  }

  async put(accountId: string, secret: WebhookSecret): Promise<boolean> {
    if ((this.#secrets.get(accountId)?.version ?? 0) !== secret.version - 1) return false;
    this.#secrets.set(accountId, structuredClone(secret));
    return true;
  }
}
