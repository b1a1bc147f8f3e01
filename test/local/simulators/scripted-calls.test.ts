import { expect, test } from 'vitest';
import { scriptOf } from '../../../local/simulators/scripted-calls.ts';
import { startSimulated } from './simulated.ts';

const { openai, anthropic } = await startSimulated();

const script = 'Tidy up. [[call list {"path":"."}]] [[call write {"path":"a","text":"b"}]]';
const list = { name: 'list', argumentsJson: '{"path":"."}' };
const write = { name: 'write', argumentsJson: '{"path":"a","text":"b"}' };

/** Request bodies of each API, with `results` tool results in the history. */
const bodies = {
  'chat completions': (results: number) => ({
    tools: [
      { type: 'function', function: { name: 'list' } },
      { type: 'function', function: { name: 'write' } },
    ],
    messages: [
      { role: 'user', content: script },
      ...Array.from({ length: results }, () => [
        { role: 'assistant', content: null, tool_calls: [] },
        { role: 'tool', tool_call_id: 'a', content: 'done' },
      ]).flat(),
    ],
  }),
  responses: (results: number) => ({
    tools: [{ type: 'function', name: 'list' }, { type: 'custom', name: 'write' }, { type: 'web_search' }],
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: script }] },
      ...Array.from({ length: results }, () => [
        { type: 'function_call', call_id: 'a', name: 'list', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'done' },
      ]).flat(),
    ],
  }),
  messages: (results: number) => ({
    tools: [{ name: 'list' }, { name: 'write' }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: script }] },
      ...Array.from({ length: results }, () => [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'list', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'done' },
            { type: 'text', text: 'A reminder.' },
          ],
        },
      ]).flat(),
    ],
  }),
  'generate content': (results: number) => ({
    tools: [{ functionDeclarations: [{ name: 'list' }, { name: 'write' }] }],
    contents: [
      { role: 'user', parts: [{ text: script }] },
      ...Array.from({ length: results }, () => [
        { role: 'model', parts: [{ functionCall: { name: 'list', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'list', response: { output: 'done' } } }] },
      ]).flat(),
    ],
  }),
};

test.each(Object.entries(bodies))('a script on %s yields one call per request, then text', (_, body) => {
  expect([0, 1, 2].map((results) => scriptOf(body(results))?.calls)).toEqual([[list], [write], []]);
});

test('a request without the tool of the script gets text', () => {
  const { messages } = bodies.messages(0);
  expect(scriptOf({ messages })).toEqual({ calls: [] });
});

test.each(['[[call list]]', '[[call list []]]', '[[call list {"path":]]', '[[delay 1]]'])(
  'a prompt with %s has no script',
  (content) => {
    expect(scriptOf({ messages: [{ role: 'user', content }] })).toBeUndefined();
  },
);

test('the simulated OpenAI plays a script to its final text', async () => {
  const runner = openai.chat.completions.runTools({
    model: 'gpt-4.1-mini',
    messages: [{ role: 'user', content: script }],
    tools: ['write', 'list'].map((name) => ({
      type: 'function' as const,
      function: { name, description: '', parameters: {}, function: (json: string) => `${name} ${json}` },
    })),
  });
  expect(await runner.finalContent()).toContain('According to the tool: write {"path":"a","text":"b"}');
});

test('the simulated Anthropic plays the call of a script', async () => {
  const { content } = await anthropic.messages.create({
    model: 'claude-haiku-4-5',
    max_tokens: 100,
    messages: [{ role: 'user', content: script }],
    tools: ['write', 'list'].map((name) => ({ name, input_schema: { type: 'object' as const } })),
  });
  expect(content).toMatchObject([{ type: 'tool_use', name: 'list', input: { path: '.' } }]);
});

test.each([
  [5, 1],
  [6, 0],
])('with %i tools and no script the model calls %i of them', async (offered, called) => {
  const tools = Array.from({ length: offered }, (_, index) => ({
    type: 'function' as const,
    function: { name: `tool_${index}` },
  }));
  const request = {
    model: 'gpt-5.4',
    reasoning_effort: 'none' as const,
    messages: [{ role: 'user' as const, content: 'Hello.' }],
    tools,
  };
  const { choices } = await openai.chat.completions.create(request);
  expect(choices[0]?.message.tool_calls ?? []).toHaveLength(called);
  const forced = await openai.chat.completions.create({ ...request, tool_choice: 'required' });
  expect(forced.choices[0]?.message.tool_calls).toHaveLength(1);
});
