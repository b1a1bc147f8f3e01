import * as z from 'zod';
import { errorCodes } from '../../lambdas/core/errors/error-codes.ts';
import { type ErrorShape, errorShapes } from '../support/error-shapes.ts';
import type { TestGateway } from '../support/gateway.ts';
import * as routes from '../support/hostile-routes.ts';
import { withQuery } from '../support/hostile-routes.ts';
import { allElements } from './google-array.ts';

/** A stream as its client reads it. */
export interface ReadStream {
  /** Number of events before an error, or of all events. */
  readonly events: number;
  /** Code of the error event, which must be the last event. */
  readonly errorCode: string | undefined;
  /** Whether the stream has the end of its protocol. */
  readonly isWhole: boolean;
}

/** A way to get a response from one provider: a protocol, plain or in one of its stream formats. */
export interface Lane {
  readonly name: string;
  readonly vendor: 'openai' | 'anthropic' | 'google';
  readonly shape: ErrorShape;
  /** Undefined: the response is not a stream. */
  readonly read?: (response: Response) => Promise<ReadStream>;
  /** Whether the protocol is the provider's own. A blocked response is then forwarded and charged (CHAT-14). */
  readonly native: boolean;
  /** Field that an error about a long prompt names. */
  readonly promptParam: string;
  send(gateway: TestGateway): Promise<Response>;
}

const responsesError = z.strictObject({
  ...{ type: z.literal('error'), code: z.enum(errorCodes), message: z.string().min(1) },
  ...{ param: z.string().nullable(), sequence_number: z.int().min(1) },
  error: z.strictObject({
    ...{ type: z.string(), code: z.enum(errorCodes), message: z.string().min(1), param: z.string().nullable() },
  }),
});

/** Codes of `ResponseError` in the package openai that the gateway uses, and the code that Codex reads. */
const vendorCodes = [
  'server_error',
  'rate_limit_exceeded',
  'invalid_prompt',
  'invalid_image_format',
  'context_length_exceeded',
];

const responseFailed = z.strictObject({
  type: z.literal('response.failed'),
  response: z.looseObject({
    ...{ id: z.string().min(1), object: z.literal('response'), status: z.literal('failed'), output: z.tuple([]) },
    error: z.strictObject({
      code: z.enum(vendorCodes),
      message: z.string().min(1),
    }),
  }),
  sequence_number: z.int().min(1),
});

interface SentEvent {
  readonly name: string;
  readonly data: string;
}

/** Splits complete events. Fails if the stream ends within an event. */
const eventsOf = async (response: Response): Promise<readonly SentEvent[]> => {
  const text = await response.text();
  if (text !== '' && !text.endsWith('\n\n')) throw new Error(`the stream ends inside an event: ${text.slice(-200)}`);
  const blocks = text.split('\n\n').slice(0, -1);
  return blocks
    .filter((block) => !block.startsWith(':'))
    .map((block) => {
      const found = /^(?:event: (?<name>\S+)\n)?data: (?<data>.*)$/.exec(block)?.groups;
      if (!found) throw new Error(`no event: ${block.slice(0, 200)}`);
      return { name: found.name ?? '', data: found.data ?? '' };
    });
};

/** Checks that only the last event is an error. */
const toStream = (
  texts: readonly string[],
  codeIn: (json: unknown) => string | undefined,
  isWhole: boolean,
): ReadStream => {
  const codes = texts.map((text) => (text === '[DONE]' ? undefined : codeIn(JSON.parse(text))));
  const at = codes.findIndex((code) => code !== undefined);
  if (at >= 0 && at < texts.length - 1) throw new Error(`something follows the error: ${texts.slice(at).join(' ')}`);
  return { events: at < 0 ? texts.length : at, errorCode: codes.at(-1), isWhole };
};

const readChat = async (response: Response): Promise<ReadStream> => {
  const texts = (await eventsOf(response)).map(({ data }) => data);
  return toStream(texts, (json) => errorShapes.plain.safeParse(json).data?.code, texts.at(-1) === '[DONE]');
};

/** Reads a stream of named events. Requires that error events, and no others, have the name `error`. */
const readNamed =
  (codeIn: (json: unknown) => string | undefined, endings: readonly string[]) =>
  async (response: Response): Promise<ReadStream> => {
    const events = await eventsOf(response);
    for (const { name, data } of events) {
      if ((name === 'error') !== (codeIn(JSON.parse(data)) !== undefined))
        throw new Error(`no error event: ${name} ${data}`);
    }
    return toStream(
      events.map(({ data }) => data),
      codeIn,
      endings.includes(events.at(-1)?.name ?? ''),
    );
  };

const readMessages = readNamed((json) => errorShapes.messages.safeParse(json).data?.code, ['message_stop']);
const readResponseEvents = readNamed(
  (json) => responsesError.safeParse(json).data?.code,
  ['response.completed', 'response.incomplete'],
);

/**
 * Reads a stream of the responses API. Its failure has two events, `error` and `response.failed`: checks the second and
 * removes it.
 */
const readResponses = async (response: Response): Promise<ReadStream> => {
  const text = await response.text();
  const blocks = text.split('\n\n');
  const [error, last] = blocks.slice(-3, -1);
  if (!last?.startsWith('event: response.failed\n')) return readResponseEvents(new Response(text));
  const dataOf = (block = ''): unknown => JSON.parse(block.slice(block.indexOf('data: ') + 'data: '.length));
  const { message, sequence_number } = responsesError.parse(dataOf(error));
  const failed = responseFailed.parse(dataOf(last));
  if (failed.sequence_number !== sequence_number + 1 || failed.response.error.message !== message)
    throw new Error(`${last} does not follow ${error}`);
  return readResponseEvents(new Response(`${blocks.slice(0, -2).join('\n\n')}\n\n`));
};

const googleCode = (json: unknown): string | undefined => errorShapes.generate_content.safeParse(json).data?.code;

/** A stream of events has no end marker. Its last event shows whether it is complete. */
const readGoogleEvents = async (response: Response): Promise<ReadStream> => {
  const texts = (await eventsOf(response)).map(({ data }) => data);
  return toStream(
    texts,
    googleCode,
    texts.at(-1)?.includes('"finishReason"') === true || texts.at(-1)?.includes('"blockReason"') === true,
  );
};

const readGoogleArray = async (response: Response): Promise<ReadStream> => {
  const { elements, end } = await allElements(response);
  return toStream(elements, googleCode, end === 'closed');
};

const WORDS = 'hello';

const sending = ({ target, headers, body }: routes.PostRoute, more: object = {}, query = '') => ({
  send: ({ url, apiKey }: TestGateway): Promise<Response> =>
    fetch(`${url}${withQuery(target, query)}`, {
      method: 'POST',
      headers: headers(apiKey).map((line): [string, string] => [
        line.replace(/:.*$/, ''),
        line.replace(/^[^:]+: /, ''),
      ]),
      body: JSON.stringify(body(WORDS, more)),
    }),
});

const chatWith = (model: string, vendor: Lane['vendor']): readonly Lane[] => {
  const lane = { vendor, shape: 'plain', native: false, promptParam: 'messages' } as const;
  const more = { model, max_tokens: 300 };
  return [
    { ...lane, name: `chat with ${model}`, ...sending(routes.chat, more) },
    {
      ...lane,
      name: `chat with ${model}, streamed`,
      read: readChat,
      ...sending(routes.chat, { ...more, stream: true }),
    },
  ];
};

const ofResponses = { vendor: 'openai', shape: 'plain', native: true, promptParam: 'input' } as const;
const ofMessages = { vendor: 'anthropic', shape: 'messages', native: true, promptParam: 'messages' } as const;
const ofGoogle = { vendor: 'google', shape: 'generate_content', native: true, promptParam: 'contents' } as const;
const streamed = { stream: true };

export const textLanes: readonly Lane[] = [
  ...chatWith('gpt-4.1-mini', 'openai'),
  ...chatWith(routes.CLAUDE, 'anthropic'),
  ...chatWith(routes.GEMINI, 'google'),
  { ...ofResponses, name: 'responses', ...sending(routes.responses) },
  { ...ofResponses, name: 'responses, streamed', read: readResponses, ...sending(routes.responses, streamed) },
  { ...ofMessages, name: 'messages', ...sending(routes.messages, { max_tokens: 300 }) },
  {
    ...ofMessages,
    name: 'messages, streamed',
    read: readMessages,
    ...sending(routes.messages, { max_tokens: 300, ...streamed }),
  },
  { ...ofGoogle, name: 'generateContent', ...sending(routes.generateContent) },
  { ...ofGoogle, name: 'generateContent, as events', read: readGoogleEvents, ...sending(routes.streamAsEvents) },
  { ...ofGoogle, name: 'generateContent, as an array', read: readGoogleArray, ...sending(routes.streamAsArray) },
];

export const inputLanes: readonly Lane[] = [
  { ...ofResponses, name: 'embeddings', ...sending(routes.embeddings) },
  // The simulator has no errors of the moderations API. It uses chat errors, which are forwarded unchanged.
  { ...ofResponses, name: 'moderations', promptParam: 'messages', ...sending(routes.moderations) },
];
