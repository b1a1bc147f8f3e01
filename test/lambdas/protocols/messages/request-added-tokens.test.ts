import { expect, test } from 'vitest';
import { promptTokensAtMost } from '../../../../lambdas/core/text/token-estimate.ts';
import { entryOf, hello, prepared, result, saying, text, tool } from './messages-requests.ts';

type Fields = Readonly<Record<string, unknown>>;

const added = (fields: Fields, betas?: string) => prepared(fields, undefined, betas).prompt.addedTokens;
const source = { type: 'text', media_type: 'text/plain', data: 'a' };
const document = (changes: object = {}) => ({ type: 'document', source, ...changes });
const cited = { citations: { enabled: true } };
const bash = { type: 'bash_20250124', name: 'bash' };
const editor = { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' };
const memory = { type: 'memory_20250818', name: 'memory' };

test.for<[Fields, number]>([
  [{}, 0],
  [{ tools: [tool()] }, 0],
  [{ tools: [bash] }, 325],
  [{ tools: [{ type: 'text_editor_20250124', name: 'str_replace_editor' }] }, 700],
  [{ tools: [{ type: 'text_editor_20250429', name: 'str_replace_based_edit_tool' }] }, 700],
  [{ tools: [tool(), bash, editor, memory] }, 325 + 700 + 2_000],
  [saying(document()), 64],
  [saying(document({ citations: { enabled: false } }), document()), 128],
  [saying(document(cited), document()), 1_128],
  [saying(result({ content: [document(cited)] })), 1_064],
  [saying({ type: 'search_result', source: 'a', title: 'a', content: [text()], ...cited }), 1_064],
  [{ messages: [hello, hello], output_config: { task_budget: { type: 'tokens', total: 1 } } }, 128],
])('BILL-5 the provider adds to %j at most %d tokens', ([fields, tokens]) => {
  expect(added(fields)).toBe(tokens);
});

test('BILL-5 each reference to a tool counts its definition again', () => {
  const big = tool({ description: 'word '.repeat(1_000) });
  const reference = { type: 'tool_reference', tool_name: 'get_weather' };
  const referring = (times: number) => ({ tools: [big], ...saying(result({ content: Array(times).fill(reference) })) });
  const one = added(referring(1)) ?? 0;
  expect(one).toBeGreaterThan(1_000);
  expect(added(referring(500))).toBe(500 * one);
  const change = { type: 'tool_addition', tool: { type: 'tool_reference', name: 'bash' } };
  const fields = { tools: [bash], messages: [hello, { role: 'system', content: [change] }] };
  expect(added(fields, 'mid-conversation-tool-changes-2026-07-01')).toBeGreaterThan(650);
  expect(added(saying(result({ content: [reference] })))).toBe(0);
});

test('BILL-5 added tokens count times the factor of the entry, up to the context', () => {
  const model = entryOf('claude-haiku-4-5');
  const held = (addedTokens: number) =>
    promptTokensAtMost(model, { prompt: { bytes: 10, images: [], addedTokens }, usesTools: false });
  expect(held(325) - held(0)).toBe(325 * (model.inputTokenFactor ?? 1));
  expect(held(10_000_000)).toBe(model.limits.contextTokens);
});
