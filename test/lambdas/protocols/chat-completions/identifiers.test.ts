import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Wire } from '../../../../lambdas/core/catalog/providers.ts';
import { chatBody } from '../../../../lambdas/protocols/chat-completions/body.ts';
import { fitIdentifiers } from '../../../../lambdas/protocols/chat-completions/identifiers.ts';
import { parseWith } from '../../../../lambdas/protocols/parse.ts';

interface Call {
  readonly id: string;
  readonly name: string;
}

/** History with calls and their results, and a forced function. */
const bodyWith = (calls: readonly Call[], declared: string) =>
  parseWith(chatBody, {
    model: 'alpha-1',
    messages: [
      { role: 'user', content: 'Hello' },
      {
        role: 'assistant',
        tool_calls: calls.map(({ id, name }) => ({ id, type: 'function', function: { name, arguments: '{}' } })),
      },
      ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Riga' })),
    ],
    tools: [{ type: 'function', function: { name: declared } }],
    tool_choice: { type: 'function', function: { name: declared } },
  });

/** Identifiers of the fitted body, in order. */
const sent = (wire: Wire, calls: readonly Call[], declared = 'look') => {
  const { body, ownNames } = fitIdentifiers(bodyWith(calls, declared), wire);
  const asked = body.messages.flatMap((message) => (message.role === 'assistant' ? (message.tool_calls ?? []) : []));
  const choice = body.tool_choice;
  return {
    ids: asked.map(({ id }) => id),
    names: asked.map((call) => call.function.name),
    results: body.messages.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : [])),
    declared: body.tools?.[0]?.function.name,
    chosen: typeof choice === 'object' ? choice?.function.name : choice,
    ownNames,
  };
};

/** Identifiers that each provider accepts, as far as the gateway's own identifiers need. */
const accepted: readonly (readonly [wire: Wire, id: RegExp, name: RegExp])[] = [
  ['openai_chat', /^.{1,40}$/su, /^[\w-]{1,64}$/],
  ['openai_responses', /^.{1,64}$/su, /^[\w-]{1,64}$/],
  ['anthropic_messages', /^[\w-]{1,64}$/, /^[\w-]{1,64}$/],
  ['gemini_generate_content', /^.+$/su, /^[a-zA-Z_][\w.-]{0,63}$/],
];

test.each(accepted)('CHAT-5 %s gets only identifiers that it accepts, and never one for two', (wire, id, name) => {
  const text = fc.oneof(
    fc.string({ minLength: 1, maxLength: 100 }),
    fc.constantFrom('a.b', 'a:b', 'a/b', '1a', '-a', 'look', 'ж', '\ud800', '\ud801', 'x'.repeat(65)),
  );
  const calls = fc.uniqueArray(fc.record({ id: text, name: text }), { selector: ({ id: own }) => own, minLength: 1 });
  fc.assert(
    fc.property(calls, fc.constantFrom('look', '1c_reload', '-', 'x'.repeat(64)), (history, declared) => {
      const { ids, names, results, declared: tool, chosen, ownNames } = sent(wire, history, declared);
      for (const found of ids) expect(found).toMatch(id);
      for (const found of [...names, tool]) expect(found).toMatch(name);
      expect(results).toEqual(ids);
      expect(new Set(ids).size).toBe(ids.length);
      expect(chosen).toBe(tool);
      const own = (fitted: string | undefined) => ownNames.get(fitted ?? '') ?? fitted;
      expect([...names, tool].map(own)).toEqual([...history.map((call) => call.name), declared]);
    }),
    { numRuns: 100 },
  );
});

test.each(accepted)('CHAT-5 %s gets identifiers that it accepts unchanged', (wire) => {
  const body = bodyWith([{ id: 'call_1', name: 'look' }], 'look');
  expect(fitIdentifiers(body, wire).body).toBe(body);
});

test('CHAT-5 a replaced identifier is the same in every request', () => {
  const call = { id: 'functions.look:0', name: 'mcp.look' };
  const first = sent('anthropic_messages', [call]);
  const later = sent('anthropic_messages', [{ id: 'b:1', name: 'b.c' }, call], 'other');
  expect([later.ids[1], later.names[1]]).toEqual([first.ids[0], first.names[0]]);
});

/** Ids of calls and results in order, from turns with the given calls and their results. */
const idsOf = (wire: Wire, turns: readonly (readonly string[])[]) => {
  const messages = turns.flatMap(
    (ids) =>
      bodyWith(
        ids.map((id) => ({ id, name: 'look' })),
        'look',
      ).messages,
  );
  const { body } = fitIdentifiers({ ...bodyWith([], 'look'), messages }, wire);
  const calls = body.messages.flatMap((message) => (message.role === 'assistant' ? (message.tool_calls ?? []) : []));
  const results = body.messages.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : []));
  return { calls: calls.map(({ id }) => id), results };
};

test.each(accepted)('CHAT-5 %s gets unique ids for calls that reuse one, and the first keeps it', (wire, pattern) => {
  const { calls, results } = idsOf(wire, [['call_0', 'b:1'], ['call_0'], ['call_0', 'call_0', 'b:1']]);
  expect(calls[0]).toBe('call_0');
  expect(new Set(calls).size).toBe(6);
  expect(results).toEqual(calls);
  for (const id of calls) expect(id).toMatch(pattern);
});

test('CHAT-5 a reused id gets the same replacement when the history grows', () => {
  const turns = [['call_0'], ['call_0']];
  const { calls } = idsOf('anthropic_messages', turns);
  expect(idsOf('anthropic_messages', [...turns, ['call_0']]).calls.slice(0, 2)).toEqual(calls);
});

test('CHAT-5 a result without a call of the latest turn keeps its id', () => {
  const { body } = fitIdentifiers(
    {
      ...bodyWith([], 'look'),
      messages: [
        ...bodyWith([{ id: 'a', name: 'look' }], 'look').messages,
        ...bodyWith([{ id: 'a', name: 'look' }], 'look').messages,
        { role: 'tool', tool_call_id: 'b', content: 'x' },
      ],
    },
    'anthropic_messages',
  );
  expect(body.messages.at(-1)).toMatchObject({ tool_call_id: 'b' });
});
