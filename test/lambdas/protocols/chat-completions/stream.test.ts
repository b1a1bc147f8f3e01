import { text as textOf } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { createChatStream } from '../../../../lambdas/protocols/chat-completions/stream.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';

const opened = () => {
  const told: unknown[] = [];
  const stream = createChatStream(new ManualClock(), {
    fail: (error) => told.push(error.code),
    close: (receipt) => told.push(receipt),
    dropped: () => told.push('dropped'),
  });
  return { ...stream, told };
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

test('CHAT-11 the finish reason, the usage and the cost go out as one chunk, then [DONE]', async () => {
  const { events, sink, told } = opened();
  sink.raw('{"a":  1}');
  sink.finish({ kind: 'end', held, reportedUsage: usage, usage: undefined }, receipt);
  sink.close(receipt);
  const [first, last, done, ...more] = dataOf(await textOf(events.body));
  expect([first, done, more]).toEqual(['{"a":  1}', '[DONE]', []]);
  expect(JSON.parse(last ?? '')).toEqual({
    ...held,
    usage: { ...usage, prompt_tokens_details: { cached_tokens: 0 }, cost: '0.000720000001' },
  });
  expect(told).toEqual([receipt]);
});

test('BILL-9 without a reported usage only the cost is told', async () => {
  const { events, sink } = opened();
  sink.finish({ kind: 'end', held, reportedUsage: undefined, usage: undefined }, { ...receipt, costPicos: 0n });
  sink.close(undefined);
  const [last] = dataOf(await textOf(events.body));
  expect(JSON.parse(last ?? '').usage).toEqual({ cost: '0' });
});

test('GEN-3 an error is an event of the error shape, and no [DONE] follows', async () => {
  const { events, sink, told } = opened();
  sink.raw('{}');
  sink.fail(new GatewayError('upstream_error', 'broken', { param: 'p' }));
  sink.close(undefined);
  const [, error, ...more] = dataOf(await textOf(events.body));
  expect(JSON.parse(error ?? '')).toEqual({
    error: { message: 'broken', type: 'upstream_error', code: 'upstream_error', param: 'p' },
  });
  expect([more, told]).toEqual([[], ['upstream_error', undefined]]);
});
