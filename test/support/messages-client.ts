import Anthropic from '@anthropic-ai/sdk';
import { errorShapes } from './error-shapes.ts';
import type { TestGateway } from './gateway.ts';
import { tokenPricesOf } from './protocol-prices.ts';
import { usageIn } from './protocol-usage.ts';

/** Thinks only when told to; the vendor answers under the dated name behind it. */
export const HAIKU = 'claude-haiku-4-5';

type Reached = Pick<TestGateway, 'url' | 'apiKey'>;

/** The vendor's client as a user would build it, but for its own repeats, which would hide an error. */
export const anthropicFor = ({ url, apiKey }: Reached): Anthropic =>
  new Anthropic({ baseURL: url, apiKey, maxRetries: 0, timeout: 60_000 });

export const asking = (content: string) => [{ role: 'user' as const, content }];

/** A good request that a test changes. */
export const ask = { model: HAIKU, max_tokens: 500, messages: asking('hello') };

/** With the headers of the gateway's own documentation, unless told. */
export function postMessages({ url, apiKey }: Reached, body: object, headers?: Readonly<Record<string, string>>) {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: headers ?? { 'x-api-key': apiKey, 'provider-version': '2023-06-01' },
    body: JSON.stringify({ ...ask, ...body }),
  });
}

/** What a call of the SDK throws, undefined when it does not. */
export async function thrownBy(pending: PromiseLike<unknown>): Promise<unknown> {
  try {
    await pending;
    return undefined;
  } catch (error) {
    return error;
  }
}

/** GEN-3's shape for this format, its id being that of the headers (GEN-4), or a failed test. */
export async function readMessageError(response: Response) {
  const { request_id, ...error } = errorShapes.messages.parse(await response.json());
  const ids = [response.headers.get('request-id'), response.headers.get('x-request-id')];
  if (ids.some((id) => id !== request_id)) throw new Error(`${request_id} is not the id of ${ids.join(' and ')}`);
  return error;
}

/** The names of the events of a stream. Ignores comments and throws on anything else. */
export function namesOf(stream: string): readonly string[] {
  const blocks = stream.split('\n\n');
  if (blocks.pop() !== '') throw new Error('the stream ends inside an event');
  return blocks
    .filter((block) => !block.startsWith(':'))
    .map((block) => {
      const [, name] = /^event: (\w+)\ndata: .+$/.exec(block) ?? [];
      if (name === undefined) throw new Error(`not an event: ${block}`);
      return name;
    });
}

/** What a reported usage costs in pico-USD by the public price list, with the cache at its own rates (BILL-12). */
export const messagePrices = async (gateway: TestGateway, id: string): Promise<(reported: unknown) => bigint> => {
  const { atCacheRates } = await tokenPricesOf(gateway, id);
  return (reported) => atCacheRates(usageIn.messages(reported));
};
