import type { TestGateway } from '../support/gateway.ts';
import { MODEL, saying } from '../support/gateway-chat.ts';

/** A response in the parts that a repeat must return unchanged. */
export interface KeyedReply {
  readonly status: number;
  readonly code: string | undefined;
  readonly text: string;
  readonly headers: Headers;
  readonly replayed: boolean;
}

export const chatBody = (prompt: string) => ({ model: MODEL, messages: saying(prompt), max_tokens: 50 });

export interface KeyedPost {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function postKeyed(
  { url, apiKey }: Pick<TestGateway, 'url' | 'apiKey'>,
  key: string,
  body: object | string,
  { path = '/v1/chat/completions', headers = {} }: KeyedPost = {},
): Promise<KeyedReply> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': key,
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const [, code] = /"code":"(\w+)"/.exec(text) ?? [];
  return {
    status: response.status,
    code: response.status === 200 ? undefined : code,
    text,
    headers: response.headers,
    replayed: response.headers.get('idempotent-replayed') === 'true',
  };
}

/** Repeats a request until it is no longer in progress. */
export async function untilAnswered(ask: () => Promise<KeyedReply>): Promise<KeyedReply> {
  for (;;) {
    const reply = await ask();
    if (reply.code !== 'idempotency_in_progress') return reply;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
