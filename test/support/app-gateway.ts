import { sign } from '@telegram-apps/init-data-node';
import * as z from 'zod';
import { signBody } from '../../lambdas/core/signature.ts';
import { startSimulator } from '../../local/simulators/server.ts';
import { type GatewayOptions, startGateway } from './gateway.ts';
import { postChat, saying } from './gateway-chat.ts';

const botToken = '123456:token-of-the-app-tests';
const topUpKey = 'top-up-key-of-the-app-tests';

const jsonObject = z.record(z.string(), z.unknown());
const errorBody = z.object({
  error: z.object({ code: z.string(), param: z.string().nullable(), message: z.string() }),
});

export interface AppAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Returns the code of a plain error (GEN-3). Throws if the body has another shape. */
export const codeOf = ({ body }: AppAnswer): string => errorBody.parse(body).error.code;

/** Account whose owner has opened the mini app. */
export interface AppOwner {
  readonly accountId: string;
  readonly apiKey: string;
  get(path: string): Promise<AppAnswer>;
  post(path: string, body: object): Promise<AppAnswer>;
}

/** Starts a gateway with a bot token, a payment secret and simulated providers. */
export async function startAppGateway(options: Pick<GatewayOptions, 'pages' | 'now'> = {}) {
  const vendor = await startSimulator();
  const gateway = await startGateway({
    ...options,
    vendorUrl: vendor.url,
    // No messenger listens there, so messages of the bot are lost.
    environment: { BOT_TOKEN: botToken, BOT_API_URL: 'http://127.0.0.1:9', TOP_UP_KEY: topUpKey },
  });
  const ask = async (path: string, init: RequestInit): Promise<AppAnswer> => {
    const response = await fetch(`${gateway.url}${path}`, init);
    return { status: response.status, headers: response.headers, body: jsonObject.parse(await response.json()) };
  };
  const initData = (chat: number, ageSeconds = 0): string =>
    sign({ user: { id: chat, first_name: 'Ada' } }, botToken, new Date(gateway.now() - ageSeconds * 1_000));
  const openApp = async (chat: number): Promise<AppOwner> => {
    const { apiKey } = await gateway.issue({ accountId: `of-chat-${chat}`, chatId: String(chat), balanceUsd: '0' });
    const headers = { authorization: `tma ${initData(chat)}` };
    return {
      accountId: `of-chat-${chat}`,
      apiKey,
      get: (path) => ask(path, { headers }),
      post: (path, body) => ask(path, { method: 'POST', headers, body: JSON.stringify(body) }),
    };
  };
  return {
    gateway,
    ask,
    initData,
    openApp,
    topUp: (payment: object, secret = topUpKey): Promise<AppAnswer> => {
      const body = JSON.stringify(payment);
      const signature = signBody(secret, body, Math.floor(gateway.now() / 1_000));
      return ask('/app/credits', { method: 'POST', headers: { 'x-service-signature': signature }, body });
    },
    withKey: (path: string, apiKey: string) => ask(path, { headers: { authorization: `Bearer ${apiKey}` } }),
    chat: async (apiKey: string, text = 'hello'): Promise<AppAnswer> => {
      const response = await postChat({ ...gateway, apiKey }, { messages: saying(text), max_tokens: 20 });
      return { status: response.status, headers: response.headers, body: jsonObject.parse(await response.json()) };
    },
    /** Returns the findings of an audit of all accounts. */
    findings: async () => (await gateway.audit()).flatMap(({ findings }) => findings),
    async stop(): Promise<void> {
      await gateway.stop();
      await vendor.stop();
    },
  };
}

export type AppGateway = Awaited<ReturnType<typeof startAppGateway>>;
