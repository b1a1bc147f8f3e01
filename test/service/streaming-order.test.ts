import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { MODEL, postChat, readEvents, saying } from '../support/gateway-chat.ts';
import { within } from '../support/gateway-process.ts';
import { asking, postGoogle } from '../support/google-client.ts';
import { HAIKU, postMessages } from '../support/messages-client.ts';
import { PRO, postResponses, readNamedEvents } from '../support/responses-client.ts';
import { readElements } from './google-array.ts';
import { startScriptedVendor } from './messages-vendor.ts';

const vendor = await startScriptedVendor();
const gateway = await startGateway({ vendorUrl: vendor.url });
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

/** A protocol in one of its stream formats. The events are written by hand, with unusual spacing and the model name. */
interface Framing {
  readonly rules: string;
  readonly name: string;
  readonly model: string;
  post(): Promise<Response>;
  readonly read: (response: Response) => AsyncGenerator<string, unknown>;
  /** Bytes of one provider event. */
  frame(event: string): string;
  /** Announcement, which the gateway withholds until the first part. */
  readonly opening?: (model: string) => string;
  readonly piece: (model: string, index: number) => string;
  /**
   * Last events of a stream. The gateway withholds the first of them until the last has arrived and the response is
   * charged.
   */
  readonly ending: (model: string) => readonly string[];
  /** Whether only the end of the connection ends a provider stream. */
  readonly endsWithSocket?: true;
  /** The ending as the client reads it, if it differs. */
  readonly lastEvents?: readonly unknown[];
}

const THEIR_MODEL = 'the-name-of-the-provider';
const named = (type: string, rest: string): string => `event: ${type}\ndata: {"type": "${type}", ${rest}}`;
const asLines = (event: string): string => `${event}\n\n`;

const chatChunk = (model: string, choices: string, more = ''): string =>
  `{"choices" : ${choices}, "x_vendor":{"a":[1.0,1e2]}, "model":"${model}", "id":"chatcmpl-1","object":"chat.completion.chunk","created":1${more}}`;

const google = {
  rules: 'GEM-2',
  model: '',
  endsWithSocket: true as const,
  frame: (event: string) => `data: ${event}\r\n\r\n`,
  piece: (_model: string, index: number) =>
    `{"candidates" : [{"content": {"parts": [{"text": "\\u00e9 }],[{ \\" ${index}"}],"role": "model"},"index": 0}], "x":1.0e2}`,
  ending: () => [
    '{"candidates": [{"finishReason": "STOP","index": 0}]}',
    '{"usageMetadata": {"promptTokenCount": 5,"candidatesTokenCount": 6,"totalTokenCount": 11}}',
  ],
};

const framings: readonly Framing[] = [
  {
    rules: 'CHAT-11',
    name: 'chat',
    model: MODEL,
    post: () => postChat(gateway, { messages: saying('hello'), stream: true }),
    read: readEvents,
    frame: (event) => `data: ${event}\n\n`,
    piece: (model, index) =>
      chatChunk(model, `[{"finish_reason":null,"delta":{"content":"\\u00e9 ${index}"},"index":0}]`),
    ending: (model) => [
      chatChunk(model, '[{"finish_reason":"stop","delta":{},"index":0}]'),
      chatChunk(model, '[]', ',"usage":{"prompt_tokens":5,"completion_tokens":6,"total_tokens":11}'),
      '[DONE]',
    ],
    // One last chunk has the finish reason, the usage and the cost.
    lastEvents: [
      expect.stringMatching(/"finish_reason":"stop".*"completion_tokens":6.*"cost":0\.\d+,"cost_usd":"0\.\d+"/),
      '[DONE]',
    ],
  },
  {
    rules: 'RESP-1',
    name: 'responses',
    model: PRO,
    post: () => postResponses(gateway, { input: 'hello', stream: true, max_output_tokens: 100 }),
    read: readNamedEvents,
    frame: asLines,
    opening: (model) =>
      named('response.created', `"sequence_number":0,"response": {"id":"resp_1", "model" :"${model}","output":[]}`),
    piece: (_model, index) =>
      named(
        'response.output_text.delta',
        `"sequence_number":${index + 1}, "delta":"\\u00e9 \\"model\\":\\"m\\"", "x":1.0`,
      ),
    ending: (model) => [
      named(
        'response.completed',
        `"sequence_number":9,"response":{"id":"resp_1","model":"${model}","status":"completed","output":[{"model":"own"}],` +
          `"usage":{"input_tokens":5,"output_tokens":6,"total_tokens":11}}`,
      ),
    ],
  },
  {
    rules: 'MSG-1',
    name: 'messages',
    model: HAIKU,
    post: () => postMessages(gateway, { stream: true }),
    read: readNamedEvents,
    frame: asLines,
    opening: (model) =>
      named(
        'message_start',
        `"message": {"id":"msg_1","model": "${model}","usage": {"input_tokens":5,"output_tokens":1}}`,
      ),
    piece: (_model, index) =>
      index === 0
        ? named('content_block_start', '"index":0, "content_block": {"type":"text","text":""}')
        : named('content_block_delta', `"index":0, "delta": {"type":"text_delta","text":"\\u00e9 ${index}"}`),
    ending: () => [
      named('message_delta', '"delta": {"stop_reason":"end_turn"}, "usage": {"output_tokens":6}'),
      'event: message_stop\ndata: {"type":"message_stop"}',
    ],
  },
  {
    ...google,
    name: 'generateContent as events',
    post: () => postGoogle(gateway, 'streamGenerateContent', asking('hello'), { query: 'alt=sse' }),
    read: readEvents,
  },
  {
    ...google,
    name: 'generateContent as one array',
    post: () => postGoogle(gateway, 'streamGenerateContent', asking('hello')),
    read: readElements,
  },
];

test.each(framings)(
  '$rules each event of $name arrives before the provider sends the next, the end once charged',
  async (framing) => {
    const { model, frame, piece, ending, opening } = framing;
    const called = vendor.nextByHand();
    const pending = framing.post();
    const upstream = await called;
    const send = (event: string) => upstream.write(frame(event));
    if (opening) send(opening(THEIR_MODEL));
    send(piece(THEIR_MODEL, 0));
    const response = await within('the status line', pending);
    const array = framing.read === readElements;
    expect(response.headers.get('content-type')).toMatch(array ? /^application\/json/ : /^text\/event-stream/);
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
    const events = framing.read(response);
    const next = async () => (await within('an event', events.next())).value;
    if (opening) expect(await next()).toBe(opening(model));
    expect(await next()).toBe(piece(model, 0));
    for (let index = 1; index < 8; index += 1) {
      send(piece(THEIR_MODEL, index));
      // The loop continues only after the client has the event.
      expect(await next()).toBe(piece(model, index));
    }
    const [first = '', ...rest] = ending(THEIR_MODEL);
    let arrived = false;
    const held = next().finally(() => {
      arrived = true;
    });
    if (rest.length > 0) send(first);
    for (let round = 0; round < 3; round += 1) expect((await gateway.account()).openHolds).toBe(1);
    expect(arrived).toBe(false);
    for (const event of rest.length > 0 ? rest : [first]) send(event);
    if (framing.endsWithSocket) upstream.end();
    const read = [await held];
    for (let event = await next(); typeof event === 'string' && event !== 'closed'; event = await next())
      read.push(event);
    expect(read).toEqual(framing.lastEvents ?? ending(model));
    upstream.end();
    expect((await gateway.untilSettled()).openHolds).toBe(0);
  },
);
