import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { responses } from '../../../../lambdas/protocols/responses/response.ts';
import { streamEvent } from '../../../support/open-responses.ts';

const context = { modelId: 'gpt-5.5-pro', requestId: 'id', nowMs: 0 };
const bodyOf = (text: string) =>
  responses.toBody(
    { kind: 'answer', content: { kind: 'native', text, body: JSON.parse(text) }, usage: undefined },
    context,
  );

const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] };

test('RESP-5 the text of a response is at output[0].content[0].text', () => {
  const made = { id: 'resp_1', output: [{ type: 'reasoning', id: 'rs_1' }, message], usage: { input_tokens: 1 } };
  const told = JSON.parse(bodyOf(JSON.stringify(made)));
  expect(told).toEqual({ ...made, output: [message, made.output[0]] });
  expect(told.output[0].content[0].text).toBe('Hello');
});

test.for([
  '{"output": [ {"type":"message","role":"assistant","content":[]} ],  "a":1.0}',
  '{"output": [{"type":"function_call","name":"n"}],  "a":1.0}',
  '{"status":"incomplete",  "output":[]}',
  '{"odd": 1}',
])('RESP-5 a response with its message first, or without a message, passes unchanged: %s', (text) => {
  expect(bodyOf(text)).toBe(text);
});

const opened = () => {
  const written: string[] = [];
  return { adapter: responses.toStream({ ...context, write: (text) => void written.push(text) }), written };
};

const begun = {
  ...{ id: 'resp_7', object: 'response', created_at: 5, status: 'in_progress', model: 'gpt-5.5-pro' },
  ...{ output: [], usage: null, error: null, incomplete_details: null, metadata: {} },
};
const event = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const opening = [
  event('response.created', { response: begun, sequence_number: 0 }),
  event('response.in_progress', { response: begun, sequence_number: 1 }),
];

/** Data and names of the events after a failure. */
const readFailure = (error: GatewayError, events: readonly string[]) => {
  const { adapter, written } = opened();
  if (events.length > 0) adapter.native(events);
  adapter.fail(error);
  return written.slice(events.length > 0 ? 1 : 0).map((text) => {
    const [, name, data = ''] = /^event: ([\w.]+)\ndata: (.*)\n\n$/.exec(text) ?? [];
    const body = JSON.parse(data);
    expect(body.type).toBe(name);
    return body;
  });
};

test('GEN-3 a stream that fails ends with error and response.failed, numbered in sequence', () => {
  const events = [...opening, event('response.output_text.delta', { delta: 'a', sequence_number: 8 })];
  const broken = { code: 'upstream_error', message: 'broken', param: null };
  expect(readFailure(new GatewayError('upstream_error', 'broken'), events)).toMatchObject([
    { type: 'error', ...broken, error: { type: 'upstream_error', ...broken }, sequence_number: 9 },
    {
      type: 'response.failed',
      response: { ...begun, status: 'failed', error: { code: 'server_error', message: 'broken' } },
      sequence_number: 10,
    },
  ]);
});

test('GEN-3 a stream without events, or without sequence numbers, fails with both events too', () => {
  const error = new GatewayError('upstream_timeout', 'late');
  const failed = { id: 'resp_id', object: 'response', status: 'failed', output: [], error: { code: 'server_error' } };
  expect(readFailure(error, [])).toMatchObject([{ sequence_number: 0 }, { sequence_number: 1, response: failed }]);
  const odd = ['data: {}\n\n', 'data: [1\n\n'];
  expect(readFailure(error, odd)).toMatchObject([{ sequence_number: 2 }, { sequence_number: 3, response: failed }]);
  const large = event('response.created', { response: { ...begun, instructions: 'x'.repeat(100_000) } });
  expect(readFailure(error, [large])[1]?.response.instructions).toBeNull();
  for (const events of [[], odd, [large]]) for (const each of readFailure(error, events)) streamEvent.parse(each);
});

test.for([
  ['context_length_exceeded', 'context_length_exceeded'],
  ['invalid_image_format', 'invalid_image_format'],
  ['content_filter', 'invalid_prompt'],
  ['invalid_request_error', 'invalid_prompt'],
  ['upstream_capacity', 'rate_limit_exceeded'],
  ['service_unavailable', 'server_error'],
  ['internal_error', 'server_error'],
] as const)('GEN-3 the response that fails with %s has the code %s', ([code, theirs]) => {
  expect(readFailure(new GatewayError(code, 'words'), opening)).toMatchObject([
    { code },
    { response: { error: { code: theirs, message: 'words' } } },
  ]);
});

test('RESP-1 events pass with their names, the last ones after the charge', () => {
  const { adapter, written } = opened();
  const events = ['event: response.created\ndata: {}\n\n', 'event: response.output_text.delta\ndata: {"a":  1}\n\n'];
  adapter.native(events);
  adapter.finish(
    { kind: 'native', events: ['event: response.completed\ndata: {}\n\n'] },
    { costPicos: 1n, usage: undefined, balancePicos: undefined },
  );
  expect(written.join('')).toBe(`${events.join('')}event: response.completed\ndata: {}\n\n`);
});

test('RESP-5 the last event of a stream has the message first, like a complete response', () => {
  const { adapter, written } = opened();
  const reasoning = { type: 'reasoning', id: 'rs_1' };
  const receipt = { costPicos: 1n, usage: undefined, balancePicos: undefined };
  const last = (output: object[]) =>
    event('response.completed', { response: { ...begun, output }, sequence_number: 9 });
  adapter.finish({ kind: 'native', events: [last([reasoning, message])] }, receipt);
  expect(written).toEqual([last([message, reasoning])]);
});
