import { expect, test } from 'vitest';
import { bodyOf, prepared, refusalOf, shipped } from './responses-requests.ts';

const png = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1').toString('base64')}`;
const tool = { type: 'function', name: 'weather', parameters: { type: 'object' }, strict: true };
const message = (content: unknown, role = 'user') => ({ role, content });
const answer = {
  type: 'message',
  id: 'msg_1',
  status: 'completed',
  role: 'assistant',
  phase: 'final_answer',
  content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
};

const accepted: readonly object[] = [
  {},
  { instructions: 'Be brief.', tools: [tool], tool_choice: 'auto', parallel_tool_calls: true },
  { tools: [tool], tool_choice: { type: 'function', name: 'weather' } },
  { tools: [{ ...tool, parameters: null, description: null, strict: null }] },
  { reasoning: { effort: 'high', summary: 'auto' }, max_output_tokens: 16 },
  { text: { format: { type: 'json_object' }, verbosity: 'low' }, include: ['reasoning.encrypted_content'] },
  { text: { format: { type: 'json_schema', name: 'a', schema: {}, strict: true } } },
  { metadata: { a: 'b' }, user: 'someone', safety_identifier: 's', prompt_cache_key: 'k', truncation: 'auto' },
  { stream: true, stream_options: { include_obfuscation: false } },
  { store: false, background: false, previous_response_id: null, conversation: null, service_tier: 'default' },
  { input: [message('Hello'), { type: 'message', ...message([{ type: 'input_text', text: 'x' }], 'developer') }] },
  { input: [message([{ type: 'input_image', image_url: png, detail: 'low' }])] },
  { input: [message([{ type: 'input_image', image_url: 'https://example.com/a.png' }])] },
  {
    input: [
      message('a'),
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 's' }], encrypted_content: 'x' },
      answer,
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'weather', arguments: '{}', status: 'completed' },
      { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'rain' }] },
    ],
  },
];

const SEALED = 'reasoning.encrypted_content';

/** What goes on: all but null, and reasoning is always asked for in the form that can be sent back. */
const sentFor = (changes: object) => {
  const { include, ...body } = bodyOf(changes);
  const asked = Array.isArray(include) ? include.filter((name) => name !== SEALED) : [];
  const kept = Object.entries(body).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(kept), include: [...asked, SEALED] };
};

test.for(accepted)('RESP-1 and GEN-9 are sent on as they came: %j', (changes) => {
  expect(prepared(changes).body).toEqual(sentFor(changes));
});

test('RESP-5 items are sent back as the SDKs dump them, null and all', () => {
  const dumped = { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: 'x', status: null };
  const { body } = prepared({ input: [message('a'), { ...answer, phase: null }, dumped, message('b')] });
  const { phase, ...said } = answer;
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' };
  expect(body.input).toEqual([message('a'), reasoning, said, message('b')]);
});

test('RESP-4 a model that does not reason is not asked for reasoning', () => {
  expect(prepared({}, { ...shipped('gpt-5.5-pro'), reasoning: null }).body).toEqual(bodyOf({}));
});

test.for([
  [{ input: undefined }, 'input'],
  [{ input: [] }, 'input'],
  [{ input: [{ role: 'tool', content: 'x' }] }, 'input[0].role'],
  [{ input: [message('a'), message([{ type: 'text', text: 'x' }])] }, 'input[1].content[0].type'],
  [{ input: [message([{ type: 'input_file', file_id: 'f' }])] }, 'input[0].content[0].type'],
  [{ input: [message([{ type: 'input_image', file_id: 'f' }])] }, 'input[0].content[0].image_url'],
  [{ input: [{ type: 'item_reference', id: 'x' }] }, 'input[0].type'],
  [{ input: [{ type: 'function_call', name: 'a', arguments: '{}' }] }, 'input[0].call_id'],
  [{ model: 5 }, 'model'],
  [{ max_output_tokens: 0 }, 'max_output_tokens'],
  [{ reasoning: { effort: 'much' } }, 'reasoning.effort'],
  [{ reasoning: { mode: 'pro' } }, 'reasoning.mode'],
  [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
  [{ tools: [{ ...tool, async: true }] }, 'tools[0].async'],
  [{ tool_choice: 'required' }, 'tool_choice'],
  [{ include: ['web_search_call.results'] }, 'include[0]'],
  [{ service_tier: 'priority' }, 'service_tier'],
  [{ prompt_cache_retention: '24h' }, 'prompt_cache_retention'],
  [{ max_tool_calls: 3 }, 'max_tool_calls'],
  [{ user: 'x'.repeat(257) }, 'user'],
] as const)('GEN-9 %j is refused at %s', ([changes, param]) => {
  const error = refusalOf(changes);
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  expect(error.message).toContain(param);
});

test.for([
  ['previous_response_id', 'resp_1'],
  ['conversation', 'conv_1'],
  ['conversation', { id: 'conv_1' }],
  ['store', true],
  ['background', true],
] as const)('RESP-4 GEN-6 %s of %j is refused as unsupported_parameter', ([param, value]) => {
  expect(refusalOf({ [param]: value })).toMatchObject({ code: 'unsupported_parameter', status: 400, param });
});

test.for(['gpt-5.2-pro', 'gpt-5.4-pro', 'gpt-5.5-pro'])(
  'RESP-3 %s takes medium, high and xhigh, and no other',
  (id) => {
    for (const effort of ['medium', 'high', 'xhigh']) {
      expect(prepared({ reasoning: { effort } }, shipped(id)).effort).toBe(effort);
    }
    for (const effort of ['none', 'minimal', 'low', 'max']) {
      expect(refusalOf({ reasoning: { effort } }, shipped(id))).toMatchObject({
        code: 'invalid_request_error',
        param: 'reasoning.effort',
        message: expect.stringContaining('"medium", "high", "xhigh"'),
      });
    }
  },
);

test.for([
  [{ temperature: 0.5 }, 'temperature'],
  [{ top_p: 0.5 }, 'top_p'],
] as const)('CHAT-16 a model that does not sample refuses %j', ([changes, param]) => {
  expect(refusalOf(changes)).toMatchObject({ code: 'invalid_request_error', param });
});

test('CHAT-16 the default of what a model does not take is left out', () => {
  expect(prepared({ temperature: 1, top_p: 1 }).body).toEqual(sentFor({}));
});

test('CHAT-8 a schema for a model without it is refused, with others named', () => {
  const text = { format: { type: 'json_schema', name: 'a', schema: {} } };
  expect(refusalOf({ text }, shipped('gpt-5.4-pro'))).toMatchObject({
    param: 'text.format',
    message: expect.stringContaining('Others.'),
  });
});

test('CHAT-6 inline images are looked at before anything is held', () => {
  const image = (image_url: string) => ({ input: [message([{ type: 'input_image', image_url }])] });
  for (const url of ['data:image/png;base64,AAAA', 'ftp://example.com/a.png', 'nonsense']) {
    expect(refusalOf(image(url))).toMatchObject({
      code: 'invalid_image_format',
      param: 'input[0].content[0].image_url',
    });
  }
});

test('BILL-5 numbers that get longer on the way to the provider count as they are sent', () => {
  const changes = { tools: [{ ...tool, parameters: { type: 'object', maximum: 1e20 } }] };
  const sent = JSON.stringify(bodyOf(changes));
  const received = sent.replace('100000000000000000000', '1e20');
  expect(prepared(changes, undefined, received.length).prompt.bytes).toBe(sent.length);
});

test('BILL-5 images count by their detail and not by their characters', () => {
  const input = [
    message([
      { type: 'input_image', image_url: png, detail: 'low' },
      { type: 'input_image', image_url: 'https://example.com/a.png' },
    ]),
  ];
  const { prompt } = prepared({ input });
  expect(prompt.images).toEqual(['low', 'auto']);
  expect(prompt.bytes).toBe(Buffer.byteLength(JSON.stringify(bodyOf({ input }))) - png.length);
});

test('GEN-9 members that only helpers of an SDK put on items are accepted and not sent', () => {
  const helped = { ...answer, content: [{ ...answer.content[0], parsed: { a: 1 } }] };
  const call = { type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' };
  const { body } = prepared({ input: [message('a'), helped, { ...call, parsed_arguments: {} }] });
  expect(body.input).toEqual([message('a'), answer, call]);
});
