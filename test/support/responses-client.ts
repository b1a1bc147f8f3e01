import type { ResponseUsage } from 'openai/resources/responses/responses';
import * as z from 'zod';
import type { TestGateway } from './gateway.ts';
import type { Counts } from './gateway-chat.ts';

export const PRO = 'gpt-5.5-pro';

interface ResponsesPost {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export function postResponses(
  { url, apiKey }: Pick<TestGateway, 'url' | 'apiKey'>,
  body: object,
  { headers, signal }: ResponsesPost = {},
): Promise<Response> {
  return fetch(`${url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: PRO, ...body }),
    ...(signal ? { signal } : {}),
  });
}

/** Converts the counts. Input tokens include cached ones, output tokens include reasoning. */
export const countsOf = (usage: Pick<ResponseUsage, 'input_tokens' | 'output_tokens'> | null | undefined): Counts => ({
  prompt_tokens: usage?.input_tokens ?? 0,
  completion_tokens: usage?.output_tokens ?? 0,
});

const usageSchema = z.looseObject({ input_tokens: z.int(), output_tokens: z.int() });

const eventSchema = z.looseObject({
  type: z.string(),
  sequence_number: z.int(),
  response: z.looseObject({ model: z.string(), usage: usageSchema.nullish() }).optional(),
});
type ResponsesEvent = z.infer<typeof eventSchema>;

const parseEvent = (text: string): ResponsesEvent => {
  const [, name = '', data = ''] = /^event: (\S+)\ndata: (.*)$/.exec(text) ?? [];
  const event = eventSchema.parse(JSON.parse(data));
  if (event.type !== name) throw new Error(`an event of two names: ${text.slice(0, 200)}`);
  return event;
};

/** Returns the events of a stream as text, without the blank line after each. Omits comments. */
export async function* readNamedEvents(response: Response): AsyncGenerator<string, void> {
  if (!response.body) throw new Error('an answer without a body');
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body) {
    text += decoder.decode(bytes, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) if (!block.startsWith(':')) yield block;
  }
  if (text !== '') throw new Error(`the stream ends inside an event: ${text.slice(0, 200)}`);
}

export const allNamedEvents = async (response: Response): Promise<readonly ResponsesEvent[]> =>
  (await Array.fromAsync(readNamedEvents(response))).map(parseEvent);
