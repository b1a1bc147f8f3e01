import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { Ending } from '../../../../lambdas/core/text/text-wire.ts';
import { chatStream } from '../../../../lambdas/protocols/chat-completions/response.ts';

const opened = (separateUsage = false) => {
  const written: string[] = [];
  const context = { modelId: 'alpha-1', requestId: 'id', nowMs: 1_700_000_000_999, separateUsage };
  const adapter = chatStream({ ...context, write: (text) => void written.push(text) });
  return { adapter, text: () => written.join('') };
};

const receipt = { costPicos: 720_000_001n, usage: undefined, balancePicos: undefined };
const usage = { prompt_tokens: 40, completion_tokens: 10, total_tokens: 50 };
const held = { id: 'c', model: 'alpha-1', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

const dataOf = (text: string): string[] => {
  expect(text).toMatch(/^(data: [^\n]*\n\n)*$/);
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.slice(6));
};

test('CHAT-11 the finish reason, the usage and the cost are one chunk, followed by [DONE]', () => {
  const { adapter, text } = opened();
  adapter.native(['{"a":  1}', '{"b":  2}']);
  adapter.finish({ kind: 'deferred', event: held, reportedUsage: usage }, receipt);
  const [first, second, last, done, ...more] = dataOf(text());
  expect([first, second, done, more]).toEqual(['{"a":  1}', '{"b":  2}', '[DONE]', []]);
  expect(JSON.parse(last ?? '')).toEqual({
    ...held,
    usage: {
      ...usage,
      prompt_tokens_details: { cached_tokens: 0 },
      cost: 0.000720000001,
      cost_usd: '0.000720000001',
    },
  });
});

test('CHAT-11 a requested usage is a chunk of its own without choices, after the finish reason', () => {
  const cost = { cost: 0.000720000001, cost_usd: '0.000720000001' };
  const ended = (ending: Ending) => {
    const { adapter, text } = opened(true);
    adapter.finish(ending, { ...receipt, usage: undefined });
    const events = dataOf(text());
    expect(events.pop()).toBe('[DONE]');
    return events.map((data): unknown => JSON.parse(data));
  };
  const withUsage = { ...held, usage: { total_tokens: 1 } };
  const counted = { ...usage, prompt_tokens_details: { cached_tokens: 0 }, ...cost };
  expect(ended({ kind: 'deferred', event: withUsage, reportedUsage: usage })).toEqual([
    held,
    { ...held, choices: [], usage: counted },
  ]);
  const unfinished = { ...held, choices: [] };
  expect(ended({ kind: 'deferred', event: unfinished, reportedUsage: usage })).toEqual([
    { ...unfinished, usage: counted },
  ]);
  const finish = chunk({ role: 'assistant', content: '' }, 'stop');
  expect(ended({ kind: 'neutral', finishReason: 'stop' })).toEqual([finish, { ...finish, choices: [], usage: cost }]);
});

test.for([
  [0n, '0'],
  [1n, '0.000000000001'],
  [28_800n, '0.0000000288'],
  [123_456_789_012_345_678_901n, '123456789.012345678901'],
] as const)(
  'BILL-15 a cost of %s pico-USD is the number and the string %s, alone without a usage',
  ([picos, digits]) => {
    const { adapter, text } = opened();
    adapter.finish({ kind: 'deferred', event: held, reportedUsage: undefined }, { ...receipt, costPicos: picos });
    const [last] = dataOf(text());
    expect(last).toMatch(new RegExp(`"usage":\\{"cost":${digits.replace('.', '\\.')},"cost_usd":"${digits}"\\}`));
  },
);

test('GEN-3 an error is an event of the error shape, and no [DONE] follows', () => {
  const { adapter, text } = opened();
  adapter.native(['{}']);
  adapter.fail(new GatewayError('upstream_error', 'broken', { param: 'p' }));
  const [, error, ...more] = dataOf(text());
  expect(JSON.parse(error ?? '')).toEqual({
    error: { message: 'broken', type: 'upstream_error', code: 'upstream_error', param: 'p' },
  });
  expect(more).toEqual([]);
});

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl-id',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'alpha-1',
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
});

test('CHAT-5 neutral deltas become chunks: role first, calls by their index', () => {
  const { adapter, text } = opened();
  adapter.neutral([]);
  adapter.neutral([
    { kind: 'text', text: 'Let me "look"' },
    { kind: 'tool_call', index: 0, id: 'call_1', name: 'weather', signature: 's' },
    { kind: 'tool_arguments', index: 0, text: '{"city":' },
  ]);
  adapter.neutral([
    { kind: 'tool_arguments', index: 0, text: '"Paris"}' },
    { kind: 'refusal', text: 'No.' },
  ]);
  const counted = { input: 1, cacheRead: 2, cacheWrite: 3, cacheWrite1h: 4, output: 5, reasoning: 6 };
  adapter.finish({ kind: 'neutral', finishReason: 'tool_calls' }, { ...receipt, usage: counted });
  const events = dataOf(text());
  expect(events.pop()).toBe('[DONE]');
  expect(events.map((data) => JSON.parse(data))).toEqual([
    chunk({ role: 'assistant', content: '', refusal: null }),
    chunk({ content: 'Let me "look"' }),
    chunk({
      tool_calls: [
        {
          index: 0,
          id: 'call_1',
          type: 'function',
          function: { name: 'weather', arguments: '' },
          extra_content: { google: { thought_signature: 's' } },
        },
      ],
    }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '"Paris"}' } }] }),
    chunk({ refusal: 'No.' }),
    {
      ...chunk({}, 'tool_calls'),
      usage: {
        prompt_tokens: 10,
        completion_tokens: 11,
        total_tokens: 21,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 6 },
        cost: 0.000720000001,
        cost_usd: '0.000720000001',
      },
    },
  ]);
});
