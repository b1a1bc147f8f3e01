import { setTimeout as sleep } from 'node:timers/promises';

export type WebhookTarget = { readonly url: string; readonly secret: string | undefined };

export type Webhook = {
  /** Undefined while no webhook is set: updates wait. */
  set(target: WebhookTarget | undefined): void;
  readonly target: WebhookTarget | undefined;
  /** Updates that have not been accepted yet. */
  readonly pending: number;
  /** Error of the last failed delivery. */
  readonly lastError: string | undefined;
  /** Resolves when the update has been accepted, or delivery has ended. */
  deliver(chatId: number, update: object): Promise<void>;
  stop(): Promise<void>;
};

const DELAY_MS_MAX = 8_000;
const TIMEOUT_MS = 60_000;

/** Delivers every update until the response is 2xx, one at a time per chat. */
export function createWebhook({ firstDelayMs = 250 } = {}): Webhook {
  const chats = new Map<number, Promise<void>>();
  const end = new AbortController();
  let target: WebhookTarget | undefined;
  let isSet = Promise.withResolvers<void>();
  let pending = 0;
  let lastError: string | undefined;
  end.signal.addEventListener('abort', () => isSet.resolve());

  async function deliverAll(update: object): Promise<void> {
    for (let delayMs = firstDelayMs; !end.signal.aborted; delayMs = Math.min(delayMs * 2, DELAY_MS_MAX)) {
      await isSet.promise;
      const problem = target && (await post(target, update, end.signal));
      if (target && problem === undefined) return;
      lastError = problem;
      await sleep(delayMs, undefined, { signal: end.signal }).catch(() => undefined);
    }
  }

  return {
    set(next) {
      if (target && !next) isSet = Promise.withResolvers();
      target = next;
      if (next) isSet.resolve();
    },
    get target() {
      return target;
    },
    get pending() {
      return pending;
    },
    get lastError() {
      return lastError;
    },
    async deliver(chatId, update) {
      pending += 1;
      const before = chats.get(chatId) ?? Promise.resolve();
      const own = before.then(() => deliverAll(update));
      chats.set(chatId, own);
      await own;
      pending -= 1;
    },
    async stop() {
      end.abort();
      await Promise.all(chats.values());
    },
  };
}

/** Sends an update. Returns the error, or undefined if the webhook has accepted the update. */
async function post({ url, secret }: WebhookTarget, update: object, signal: AbortSignal): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(secret === undefined ? {} : { 'x-telegram-bot-api-secret-token': secret }),
      },
      body: JSON.stringify(update),
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.arrayBuffer();
    return response.ok ? undefined : `Wrong response from the webhook: ${response.status} ${response.statusText}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
