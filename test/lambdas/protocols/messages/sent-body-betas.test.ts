import { expect, test } from 'vitest';
import { IgnoredFields } from '../../../../lambdas/protocols/fields.ts';
import { readBetas } from '../../../../lambdas/protocols/messages/sent-body.ts';
import { hello, prepared, refusalOf, result, saying, text } from './messages-requests.ts';

const read = (header: string | undefined) => {
  const ignored = new IgnoredFields();
  return { sent: readBetas(header, ignored), listed: ignored.names };
};

/** Values that Claude Code and the SDKs send, and values that change a price or need a tool of the provider. */
test.for([
  [undefined, [], []],
  ['', [], []],
  [' , ,', [], []],
  ['effort-2025-11-24', ['effort-2025-11-24'], []],
  ['effort-2025-11-24, claude-code-20250219,effort-2025-11-24', ['effort-2025-11-24', 'claude-code-20250219'], []],
  ['context-1m-2025-08-07', [], ['anthropic-beta.context-1m-2025-08-07']],
  [
    'fast-mode-2026-02-01,interleaved-thinking-2025-05-14,prompt-caching-scope-2026-01-05',
    ['interleaved-thinking-2025-05-14'],
    ['anthropic-beta.fast-mode-2026-02-01', 'anthropic-beta.prompt-caching-scope-2026-01-05'],
  ],
  ['Effort-2025-11-24', [], ['anthropic-beta.Effort-2025-11-24']],
  ['a b;c', [], ['anthropic-beta.a%20b%3Bc']],
] as const)('MSG-7 the header %j becomes %j, and %j is listed', ([header, sent, listed]) => {
  expect(read(header)).toEqual({ sent, listed });
});

test.for([
  ['context-1m-2025-08-07', 'output-300k-2026-03-24', 'server-side-fallback-2026-07-01', 'fallback-credit-2026-07-01'],
  ['compact-2026-09-04', 'advisor-tool-2026-03-01', 'mcp-client-2026-09-15', 'code-execution-2025-05-22'],
  ['files-api-2025-04-14', 'skills-2025-10-02', 'advanced-tool-use-2025-11-20', 'message-threads-2026-08-12'],
  ['inline-tools-2026-09-15', 'user-profiles-billing-2026-10-01', 'output-128k-2025-02-19', 'unknown-2099-01-01'],
])('MSG-7 none of %j is sent', (values) => {
  expect(read(values.join(',')).sent).toEqual([]);
});

const sentWith = (fields: Readonly<Record<string, unknown>>, header?: string) =>
  prepared(fields, undefined, header).headers;
const edits = { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } };
const adaptive = (changes: object) => ({ model: 'claude-sonnet-5', thinking: { type: 'adaptive', ...changes } });

test.for([
  [edits, 'context-management-2025-06-27'],
  [{ output_config: { task_budget: { type: 'tokens', total: 9 } } }, 'task-budgets-2026-03-13'],
  [adaptive({ display: 'updates' }), 'thinking-display-updates-2026-08-18'],
  [adaptive({ block_binding: { prefix_mismatch_behavior: 'drop_block' } }), 'thinking-binding-controls-2026-08-01'],
  [
    { messages: [hello, { role: 'system', content: 'a', clear_at: 'next_user_message' }] },
    'mid-conversation-system-clear-at-2026-08-21',
  ],
] as const)('MSG-7 %j adds the beta %s', ([fields, beta]) => {
  expect(sentWith(fields)).toEqual({ 'anthropic-beta': beta });
  expect(sentWith(fields, `${beta},effort-2025-11-24`)).toEqual({ 'anthropic-beta': `${beta},effort-2025-11-24` });
  expect(sentWith({})).toBeUndefined();
});

const change = (type: string) => ({
  messages: [hello, { role: 'system', content: [{ type, tool: { type: 'tool_reference', name: 'f' } }] }],
});

test.for(['tool_addition', 'tool_removal'])('MSG-7 %s is sent if the client sends its beta', (type) => {
  const beta = 'mid-conversation-tool-changes-2026-07-01';
  expect(prepared(change(type), undefined, beta).body).toMatchObject(change(type));
  const error = refusalOf(change(type));
  expect(error).toMatchObject({ code: 'invalid_messages', param: 'messages[1].content[0]' });
  expect(error.message).toContain(beta);
});

test('GEN-9 a provider tool inside a tool_addition is rejected', () => {
  const tool = { type: 'tool_definition', definition: { type: 'web_search_20250305', name: 'web_search' } };
  const fields = { messages: [hello, { role: 'system', content: [text(), { type: 'tool_addition', tool }] }] };
  const beta = 'mid-conversation-tool-changes-2026-07-01,inline-tools-2026-09-15';
  expect(() => prepared(fields, undefined, beta)).toThrow(
    'messages[1].content[1].tool.type: "tool_definition" is not supported',
  );
});

test('MSG-7 a reference to a tool in a result needs no beta', () => {
  const fields = saying(result({ content: [{ type: 'tool_reference', tool_name: 'f' }] }));
  expect(prepared(fields).body).toMatchObject(fields);
});
