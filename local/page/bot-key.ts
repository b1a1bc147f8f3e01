import * as z from 'zod';
import { isApiKey } from '../../lambdas/core/accounts/keys.ts';
import { PageRefusal } from './guard.ts';
import type { PageMessenger } from './page-messenger.ts';
import { type ChatMessage, OWN_REQUEST } from './ui/wire.ts';

export type BotKey = {
  /** Latest API key of the messenger's user. Undefined until the bot sends one. It may be replaced by now. */
  present(): string | undefined;
  /** Masked API key of the user's account, from the gateway. Undefined without an account, or if the gateway fails. */
  masked(): Promise<string | undefined>;
  /**
   * Issues an API key in place of the user's present one, as the mini app does (KEY-2). A user without an account gets
   * both from the bot, as after /start (KEY-1). Throws PageRefusal.
   */
  issue(): Promise<void>;
};

/** Remembers the API key that the bot sends to the page's user, because the bot shows it only once. */
export function createBotKey(url: string, messenger: PageMessenger, publish: (apiKey: string) => void): BotKey {
  let present = messenger.messages().map(keyIn).findLast(Boolean);
  const set = (apiKey: string): void => {
    present = apiKey;
    publish(apiKey);
  };
  messenger.onMessage((message) => {
    const apiKey = keyIn(message);
    if (apiKey !== undefined) set(apiKey);
  });
  return {
    present: () => present,
    masked: () => readMasked(url, messenger.initData('en')),
    async issue() {
      const apiKey = await replaceKey(url, messenger.initData('en'));
      if (apiKey === undefined) messenger.say('/start', 'en');
      else set(apiKey);
    },
  };
}

/** Returns the API key that a message of the bot shows as code. A masked key does not count. */
export function keyIn({ from, text, spans }: ChatMessage): string | undefined {
  if (from !== 'bot') return undefined;
  return spans
    .filter(({ kind }) => kind === 'code')
    .map(({ offset, length }) => text.slice(offset, offset + length))
    .find(isApiKey);
}

const accountSchema = z.object({ key: z.object({ id: z.string(), masked: z.string().optional() }).nullable() });
const issuedSchema = z.object({ key: z.string() });
const errorSchema = z.object({ error: z.object({ message: z.string() }) });

async function readMasked(url: string, initData: string): Promise<string | undefined> {
  const headers = { authorization: `tma ${initData}`, ...OWN_REQUEST };
  const response = await fetch(`${url}/app/api/account`, { headers });
  if (response.status !== 200) return undefined;
  return accountSchema.safeParse(await response.json()).data?.key?.masked;
}

/** Undefined if the user has no account. */
async function replaceKey(url: string, initData: string): Promise<string | undefined> {
  const headers = { authorization: `tma ${initData}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/app/api/account`, { headers });
  if (response.status === 404) return undefined;
  const account = accountSchema.parse(await read(response));
  const body = JSON.stringify({ key_id: account.key?.id });
  return issuedSchema.parse(await read(await fetch(`${url}/app/api/key`, { method: 'POST', headers, body }))).key;
}

async function read(response: Response): Promise<unknown> {
  const body: unknown = await response.json();
  if (response.ok) return body;
  const { data } = errorSchema.safeParse(body);
  throw new PageRefusal(response.status, data?.error.message ?? `The gateway returned the status ${response.status}.`);
}
