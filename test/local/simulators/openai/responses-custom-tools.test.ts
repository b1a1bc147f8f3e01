import type { NamespaceTool, ResponseCreateParams, ResponseInput } from 'openai/resources/responses/responses';
import { expect, test } from 'vitest';
import { startSimulated } from '../simulated.ts';

const { openai } = await startSimulated();

const patch = { type: 'custom', name: 'apply_patch', format: { type: 'text' } } as const;
const request = {
  model: 'gpt-5.4',
  input: 'Rename the file',
  reasoning: { effort: 'none' },
  tools: [patch],
} satisfies ResponseCreateParams;

test('a custom tool is called with text', async () => {
  const { output, status } = await openai.responses.create(request);
  expect(status).toBe('completed');
  expect(output).toMatchObject([
    { type: 'custom_tool_call', id: expect.stringMatching(/^ctc_/), name: 'apply_patch', input: 'simulated input' },
  ]);
});

test('a stream sends the input of a custom tool in pieces', async () => {
  const types: string[] = [];
  let input = '';
  let done = '';
  for await (const event of await openai.responses.create({ ...request, stream: true })) {
    types.push(event.type);
    if (event.type === 'response.custom_tool_call_input.delta') input += event.delta;
    if (event.type === 'response.custom_tool_call_input.done') done = event.input;
  }
  expect([input, done]).toEqual(['simulated input', 'simulated input']);
  expect([...new Set(types)]).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.custom_tool_call_input.delta',
    'response.custom_tool_call_input.done',
    'response.output_item.done',
    'response.completed',
  ]);
});

test('the result of a custom tool is followed by text', async () => {
  const first = await openai.responses.create(request);
  const [call] = first.output;
  if (call?.type !== 'custom_tool_call') throw new Error('no call of a custom tool');
  const result = { type: 'custom_tool_call_output', call_id: call.call_id, output: 'Renamed' } as const;
  const input: ResponseInput = [{ role: 'user', content: request.input }, call, result];
  const { output_text: text } = await openai.responses.create({ ...request, input, store: false });
  expect(text).toBe('According to the tool: Renamed');
});

test('a tool choice can name a custom tool or a tool of a namespace', async () => {
  const send: NamespaceTool.Function = {
    type: 'function',
    name: 'send',
    parameters: { type: 'object' },
    strict: false,
  };
  const mail: NamespaceTool = { type: 'namespace', name: 'mail', description: 'Mail', tools: [send] };
  const tools = [mail, patch];
  const named = (type: 'custom' | 'function', name: string) =>
    openai.responses.create({ ...request, tools, tool_choice: { type, name } });
  expect((await named('custom', 'apply_patch')).output).toMatchObject([{ type: 'custom_tool_call' }]);
  const [call] = (await named('function', 'send')).output;
  expect(call).toMatchObject({ type: 'function_call', name: 'send', namespace: 'mail' });
});
