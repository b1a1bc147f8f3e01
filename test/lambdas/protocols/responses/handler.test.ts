import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { responses } from '../../../../lambdas/protocols/responses/handler.ts';

const context = { modelId: 'gpt-5.5-pro', requestId: 'id', nowMs: 0 };
const bodyOf = (text: string) =>
  responses.toBody(
    { kind: 'answer', content: { kind: 'native', text, body: JSON.parse(text) }, usage: undefined },
    context,
  );

const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] };

test('RESP-5 the text of an answer is at output[0].content[0].text', () => {
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
])('RESP-5 an answer in that order already, or without a message, passes as it came: %s', (text) => {
  expect(bodyOf(text)).toBe(text);
});

const opened = () => {
  const written: string[] = [];
  return { face: responses.toStream({ ...context, write: (text) => void written.push(text) }), written };
};

test('GEN-3 an error is an error event with the next number, and no terminal event follows', () => {
  const { face, written } = opened();
  face.native(['event: response.created\ndata: {}\n\n', 'event: response.in_progress\ndata: {}\n\n']);
  face.fail(new GatewayError('upstream_error', 'broken'));
  const [, data = ''] = /^event: error\ndata: (.*)\n\n$/.exec(written.at(-1) ?? '') ?? [];
  expect(JSON.parse(data)).toEqual({
    type: 'error',
    code: 'upstream_error',
    message: 'broken',
    param: null,
    sequence_number: 2,
  });
});

test('RESP-1 events pass with their names, the last ones after the charge', () => {
  const { face, written } = opened();
  const events = ['event: response.created\ndata: {}\n\n', 'event: response.output_text.delta\ndata: {"a":  1}\n\n'];
  face.native(events);
  face.finish(
    { kind: 'native', events: ['event: response.completed\ndata: {}\n\n'] },
    { costPicos: 1n, usage: undefined, balancePicos: undefined },
  );
  expect(written.join('')).toBe(`${events.join('')}event: response.completed\ndata: {}\n\n`);
});
