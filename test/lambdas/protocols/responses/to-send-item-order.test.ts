import { expect, test } from 'vitest';
import { messageFirst, reasoningFirst } from '../../../../lambdas/protocols/responses/to-send.ts';

const item = (name: string) => {
  const types: Readonly<Record<string, string>> = {
    ...{ r: 'reasoning', f: 'function_call', o: 'function_call_output' },
    ...{ c: 'custom_tool_call', x: 'custom_tool_call_output', s: 'tool_search_call', y: 'tool_search_output' },
  };
  const [letter = ''] = name;
  return {
    type: types[letter] ?? 'message',
    id: name,
    ...(letter === 'm' ? { role: 'assistant' } : {}),
    ...(letter === 'u' ? { role: 'user' } : {}),
    ...(letter === 'k' ? { role: 'assistant', phase: 'commentary' } : {}),
    ...(letter === 'a' ? { role: 'assistant', phase: 'final_answer' } : {}),
  };
};
const items = (names: string) => names.split(' ').map(item);

test.for([
  ['r1 m1', 'm1 r1'],
  ['r1 m1 f1', 'm1 r1 f1'],
  ['r1 f1 r2 m1', 'm1 r1 f1 r2'],
  ['r1 m1 r2 m2', 'm1 r1 r2 m2'],
  ['m1', 'm1'],
  ['m1 r1', 'm1 r1'],
  ['r1 f1', 'r1 f1'],
  ['r1 r2 m1', 'm1 r1 r2'],
  ['r1 k1 a1', 'a1 r1 k1'],
  ['r1 k1 r2 a1', 'a1 r1 k1 r2'],
  ['r1 k1 k2 r2 k3 a1', 'a1 r1 k1 k2 r2 k3'],
  ['r1 k1 m1', 'm1 r1 k1'],
  ['r1 k1 k2 f1', 'k1 r1 k2 f1'],
  ['r1 k1 r2 k2 f1', 'k1 r1 r2 k2 f1'],
  ['k1 a1', 'a1 k1'],
] as const)('RESP-5 an output of %s is returned as %s, and goes back in its original order', ([made, returned]) => {
  const shown = messageFirst(items(made));
  expect(shown).toEqual(items(returned));
  if (!/^m/.test(made)) expect(reasoningFirst(shown)).toEqual(items(made));
});

test.for([
  ['u1 m1 r1 u2', 'u1 r1 m1 u2'],
  ['u1 m1 r1 f1 o1 m2 r2 u2', 'u1 r1 m1 f1 o1 r2 m2 u2'],
  ['u1 m1 u2 m2 r2 u3', 'u1 m1 u2 r2 m2 u3'],
  ['u1 r1 m1 u2', 'u1 r1 m1 u2'],
  ['u1 r1 f1 o1 r2 m1 u2', 'u1 r1 f1 o1 r2 m1 u2'],
  ['u1 m1 f1 o1', 'u1 m1 f1 o1'],
  ['m1 r1', 'r1 m1'],
  ['u1 r1', 'u1'],
  ['u1 r1 u2 r2 m2 u3', 'u1 u2 r2 m2 u3'],
  ['u1 r1 f1 o1 r2', 'u1 r1 f1 o1'],
  ['u1 r1 k1 a1 u2', 'u1 r1 k1 a1 u2'],
  ['u1 k1 r1 a1 u2', 'u1 k1 r1 a1 u2'],
  ['u1 a1 r1 k1 u2 a2 r2 k2', 'u1 r1 k1 a1 u2 r2 k2 a2'],
  ['u1 k1 f1 o1 a1', 'u1 k1 f1 o1 a1'],
  ['u1 m1 r1 c1 x1 r2 s1 y1', 'u1 r1 m1 c1 x1 r2 s1 y1'],
] as const)('RESP-5 a history of %s goes to the provider as %s', ([sent, order]) => {
  expect(reasoningFirst(items(sent))).toEqual(items(order));
});

test('RESP-5 items of other kinds stay in their place', () => {
  const odd = [5, null, 'x', { role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }];
  expect(reasoningFirst(odd)).toEqual(odd);
  expect(messageFirst(odd.slice(0, 4))).toEqual(odd.slice(0, 4));
});
