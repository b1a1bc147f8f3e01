import { expect, test } from 'vitest';
import { events, json, receipt, run } from './scripted-gateway.ts';

test('BILL-15 a chat stream shows its text, its tokens and the cost of its usage', async () => {
  const usage = { prompt_tokens: 3, completion_tokens: 5, cost_usd: '0.1' };
  const stream = events(
    { choices: [{ delta: { content: 'He' } }] },
    { choices: [{ delta: { content: 'y' } }], usage },
    '[DONE]',
  );
  const { reading, asked } = await run('chat', '/v1/chat/completions', { '/v1/chat/completions': [stream] });
  expect(reading).toMatchObject({ state: 'done', text: 'Hey', requestId: 'R1', costUsd: '0.1' });
  expect(reading.usage).toEqual({ inputTokens: 3, outputTokens: 5 });
  expect(reading.firstByteMs).toBeGreaterThan(0);
  expect(asked).toEqual(['POST /v1/chat/completions Bearer K']);
});

test('BILL-15 a stream of the Responses API shows its text, and the cost of its receipt', async () => {
  const usage = { input_tokens: 7, output_tokens: 9 };
  const stream = events(
    { type: 'response.created', response: { usage: null, error: null } },
    { type: 'response.output_text.delta', delta: 'He' },
    { type: 'response.output_text.delta', delta: 'y' },
    { type: 'response.completed', response: { usage, error: null } },
  );
  const { reading, asked } = await run('responses', '/v1/responses', {
    '/v1/responses': [stream],
    '/api/usage/R1': [json(404, { error: { code: 'not_found', message: 'no' } }), receipt],
  });
  expect(reading).toMatchObject({ state: 'done', text: 'Hey', costUsd: '0.25' });
  expect(reading.usage).toEqual({ inputTokens: 7, outputTokens: 9 });
  expect(asked.slice(1)).toEqual(Array(2).fill('GET /api/usage/R1 Bearer K'));
});

test.each([
  ['an event of the type error', { type: 'error', code: 'upstream_error', message: 'It broke.' }],
  ['an error member', { error: { code: 'upstream_error', message: 'It broke.' } }],
  [
    'a failed response',
    { type: 'response.failed', response: { error: { code: 'upstream_error', message: 'It broke.' } } },
  ],
])('ERR-1 a stream with %s fails with its code and message', async (_name, event) => {
  const { reading } = await run('responses', '/v1/responses', { '/v1/responses': [events(event)] });
  expect(reading).toMatchObject({ state: 'failed', error: { code: 'upstream_error', message: 'It broke.' } });
});

test('a stream without its proper end is shown as cut', async () => {
  const cut = events({ choices: [{ delta: { content: 'He' } }] });
  const { reading } = await run('chat', '/v1/chat/completions', { '/v1/chat/completions': [cut] });
  expect(reading).toMatchObject({ state: 'failed', text: 'He', error: { code: 'cut' } });
});

test('a whole response of both text protocols shows its text', async () => {
  const headers = { 'x-service-cost-usd': '0.2', 'x-service-balance-usd': '9.8' };
  const chat = json(200, { choices: [{ message: { content: 'Hey' } }] }, headers);
  const response = json(200, { output: [{ content: [{ text: 'He' }, { text: 'y' }] }, {}] }, headers);
  for (const [mode, answer] of [
    ['chat', chat],
    ['responses', response],
  ] as const) {
    const { reading, asked } = await run(mode, '/v1/x', { '/v1/x': [answer] });
    expect(reading).toMatchObject({ state: 'done', text: 'Hey', costUsd: '0.2', balanceUsd: '9.8' });
    expect(asked).toHaveLength(1);
  }
});
