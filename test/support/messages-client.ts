import Anthropic from '@anthropic-ai/sdk';
import { errorShapes } from './error-shapes.ts';
import type { TestGateway } from './gateway.ts';
import { tokenPricesOf } from './protocol-prices.ts';
import { usageIn } from './protocol-usage.ts';

/** Model that thinks only on request. The provider's response has a dated model name. */
export const HAIKU = 'claude-haiku-4-5';

type Reached = Pick<TestGateway, 'url' | 'apiKey'>;

/** Returns the provider's client as a user would build it, except for retries, which would hide an error. */
export const anthropicFor = ({ url, apiKey }: Reached): Anthropic =>
  new Anthropic({ baseURL: url, apiKey, maxRetries: 0, timeout: 60_000 });

export const asking = (content: string) => [{ role: 'user' as const, content }];

/** Valid request for tests to change. */
export const ask = { model: HAIKU, max_tokens: 500, messages: asking('hello') };

/** Sends a request. By default with the headers from the gateway's documentation. */
export function postMessages({ url, apiKey }: Reached, body: object, headers?: Readonly<Record<string, string>>) {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: headers ?? { 'x-api-key': apiKey, 'provider-version': '2023-06-01' },
    body: JSON.stringify({ ...ask, ...body }),
  });
}

/** Returns the error that a call of the SDK throws. Undefined if it throws none. */
export async function thrownBy(pending: PromiseLike<unknown>): Promise<unknown> {
  try {
    await pending;
    return undefined;
  } catch (error) {
    return error;
  }
}

/**
 * Returns the error of a response. Throws unless it has this format's shape (GEN-3) and the request id of the headers
 * (GEN-4).
 */
export async function readMessageError(response: Response) {
  const { request_id, ...error } = errorShapes.messages.parse(await response.json());
  const ids = [response.headers.get('request-id'), response.headers.get('x-request-id')];
  if (ids.some((id) => id !== request_id)) throw new Error(`${request_id} is not the id of ${ids.join(' and ')}`);
  return error;
}

/** Returns the names of the events of a stream. Ignores comments and throws on anything else. */
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

/**
 * Returns a function that computes the price of reported usage in pico-USD, from the public price list and with cache
 * rates (BILL-12).
 */
export const messagePrices = async (gateway: TestGateway, id: string): Promise<(reported: unknown) => bigint> => {
  const { atCacheRates } = await tokenPricesOf(gateway, id);
  return (reported) => atCacheRates(usageIn.messages(reported));
};
