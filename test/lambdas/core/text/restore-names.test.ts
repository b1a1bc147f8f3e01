import { expect, test } from 'vitest';
import { restoreNames } from '../../../../lambdas/core/text/restore-names.ts';
import type { WireAnswer, WireEvent } from '../../../../lambdas/core/text/text-wire.ts';

const ownNames = new Map([['_1c_ff', '1c']]);
const call = { id: 'call_1', name: '_1c_ff', arguments: '{}' };

test('CHAT-5 a complete response has the names of the client', () => {
  const answer = { text: null, refusal: null, toolCalls: [call], finishReason: 'tool_calls' } as const;
  const sent: WireAnswer = { kind: 'answer', content: { kind: 'neutral', answer }, usage: undefined };
  expect(restoreNames(sent, ownNames)).toMatchObject({ content: { answer: { toolCalls: [{ ...call, name: '1c' }] } } });
  expect(restoreNames(sent)).toBe(sent);
});

test('CHAT-5 a stream has the names of the client, and ends as before', async () => {
  const events: WireEvent[] = [
    { kind: 'neutral', deltas: [{ kind: 'tool_call', index: 0, id: 'call_1', name: '_1c_ff' }] },
    { kind: 'end', ending: { kind: 'neutral', finishReason: 'tool_calls' }, usage: undefined },
  ];
  const source = { kind: 'stream', events: events.values(), close: () => undefined, usageSoFar: () => undefined };
  const iterator: AsyncIterator<WireEvent, void> = {
    next: async () => {
      const next = source.events.next();
      return next.done ? { done: true, value: undefined } : next;
    },
  };
  const restored = restoreNames({ ...source, kind: 'stream', events: iterator }, ownNames);
  if (restored.kind !== 'stream') throw new Error('not a stream');
  expect((await restored.events.next()).value).toMatchObject({ deltas: [{ name: '1c' }] });
  expect((await restored.events.next()).value).toEqual(events[1]);
  expect((await restored.events.next()).done).toBe(true);
});
