import OpenAI from 'openai';
import * as z from 'zod';
import type { TestGateway } from './gateway.ts';
import { tokenPricesOf } from './protocol-prices.ts';

export const MODEL = 'gpt-4.1-mini';
/** Chat model without a date of retirement or price change, for suites on the real date. */
export const LASTING_MODEL = 'gpt-5.4-mini';

/** Returns the official client as a user would build it, except for retries, which would hide an error. */
export const sdkFor = ({ url, apiKey }: Pick<TestGateway, 'url' | 'apiKey'>): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0, timeout: 60_000 });

export const saying = (content: string) => [{ role: 'user' as const, content }];

export function postChat(
  { url, apiKey, model = MODEL }: Pick<TestGateway, 'url' | 'apiKey' | 'model'>,
  body: object,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, ...body }),
    ...(signal ? { signal } : {}),
  });
}

export const errorSchema = z.strictObject({
  error: z.strictObject({ message: z.string(), type: z.string(), code: z.string(), param: z.string().nullable() }),
});
export type ErrorBody = z.infer<typeof errorSchema>['error'];

/** Returns the error of a response. Fails the test unless it has the plain shape (GEN-3). */
export const readError = async (response: Response): Promise<ErrorBody> =>
  errorSchema.parse(await response.json()).error;

/** Returns the `data:` values of a stream. Ignores comments and throws on anything else (CHAT-11). */
export async function* readEvents(response: Response): AsyncGenerator<string, void> {
  if (!response.body) throw new Error('a response without a body');
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body) {
    text += decoder.decode(bytes, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      if (block.startsWith(':')) continue;
      if (!block.startsWith('data: ') || block.includes('\n')) throw new Error(`no event: ${block.slice(0, 200)}`);
      yield block.slice('data: '.length);
    }
  }
  if (text !== '') throw new Error(`the stream ends inside an event: ${text.slice(0, 200)}`);
}

export async function allEvents(response: Response): Promise<readonly string[]> {
  return Array.fromAsync(readEvents(response));
}

export const chunkSchema = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      delta: z.looseObject({ content: z.string().nullish() }),
      finish_reason: z.string().nullable(),
    }),
  ),
  usage: z
    .looseObject({ prompt_tokens: z.int(), completion_tokens: z.int(), cost: z.number(), cost_usd: z.string() })
    .nullish(),
});

export interface Counts {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

/** Returns a function that computes the price of usage in pico-USD from the public price list (CAT-2). */
export async function pricesOf(
  gateway: Pick<TestGateway, 'url' | 'now'>,
  id: string,
): Promise<(usage: Counts) => bigint> {
  const { atOneRate } = await tokenPricesOf(gateway, id);
  const unsplit = { cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 };
  return (usage) => atOneRate({ ...unsplit, input: usage.prompt_tokens, output: usage.completion_tokens });
}

/** Runs `work` and returns by how much the balance fell in pico-USD, once every hold has ended. */
export async function spentBy<T>(gateway: TestGateway, work: () => Promise<T>): Promise<{ result: T; spent: bigint }> {
  const before = await gateway.untilSettled();
  const result = await work();
  const after = await gateway.untilSettled();
  return { result, spent: before.balance - after.balance };
}
