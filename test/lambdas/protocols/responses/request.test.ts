import { expect, test } from 'vitest';
import { promptTokensAtMost } from '../../../../lambdas/core/text/token-estimate.ts';
import { bodyOf, prepared, refusalOf, shipped } from './responses-requests.ts';

const png = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1').toString('base64')}`;
const pdf = `data:application/pdf;base64,${Buffer.from('%PDF-1.4\n').toString('base64')}`;
const call = { type: 'function_call', call_id: 'c', name: 'weather', arguments: '{}' };
const tool = { type: 'function', name: 'weather', parameters: { type: 'object' }, strict: true };
const message = (content: unknown, role = 'user') => ({ role, content });

const accepted: readonly object[] = [
  {},
  { instructions: 'Be brief.', tools: [tool], tool_choice: 'auto', parallel_tool_calls: true },
  { tools: [tool], tool_choice: { type: 'function', name: 'weather' } },
  { tools: [{ ...tool, parameters: null, strict: null }] },
  { reasoning: { effort: 'high', summary: 'auto', context: 'all_turns' }, max_output_tokens: 16 },
  { text: { format: { type: 'json_object' }, verbosity: 'low' }, include: ['reasoning.encrypted_content'] },
  { text: { format: { type: 'json_schema', name: 'a', schema: {}, strict: true } } },
  { metadata: { a: 'b' }, user: 'someone', safety_identifier: 's', prompt_cache_key: 'k', truncation: 'auto' },
  { stream: true, stream_options: { include_obfuscation: false } },
  { service_tier: 'default', include: ['message.input_image.image_url'] },
  { input: [message('Hello'), { type: 'message', ...message([{ type: 'input_text', text: 'x' }], 'developer') }] },
  { input: [message([{ type: 'input_image', image_url: png, detail: 'low' }])] },
  { input: [message([{ type: 'input_image', image_url: 'https://example.com/a.png' }])] },
  { input: [message([{ type: 'input_file', filename: 'a.pdf', file_data: pdf, detail: 'low' }])] },
  { input: [message([{ type: 'input_file', file_url: 'https://example.com/a.pdf' }])] },
  { input: [call, { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', file_data: pdf }] }] },
];

const SEALED = 'reasoning.encrypted_content';

/** Returns the members that are sent: all except null, with encrypted reasoning in `include`. */
const sentFor = (changes: object) => {
  const { include, ...body } = bodyOf(changes);
  const asked = Array.isArray(include) ? include.filter((name) => name !== SEALED) : [];
  const kept = Object.entries(body).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(kept), include: [...asked, SEALED] };
};

test.for(accepted)('RESP-1 and GEN-9 supported fields are sent unchanged, except null: %j', (changes) => {
  expect(prepared(changes).body).toEqual(sentFor(changes));
});

test('RESP-4 a model without reasoning gets no request for reasoning', () => {
  expect(prepared({}, { ...shipped('gpt-5.5-pro'), reasoning: null }).body).toEqual(bodyOf({}));
});

test.for([
  [{ input: undefined }, 'input'],
  [{ input: [] }, 'input'],
  [{ input: [{ role: 'tool', content: 'x' }] }, 'input[0].role'],
  [{ input: [{ type: 'web_search_call', id: 'ws_1', status: 'completed' }] }, 'input[0].type'],
  [{ input: [{ type: 'compaction', encrypted_content: 'x' }] }, 'input[0].type'],
  [{ input: [message([{ type: 'input_audio', input_audio: {} }])] }, 'input[0].content[0].type'],
  [{ input: [message('a'), message([{ type: 'text', text: 'x' }])] }, 'input[1].content[0].type'],
  [{ input: [message([{ type: 'input_file', file_id: 'f' }])] }, 'input[0].content[0].file_id'],
  [{ input: [message([{ type: 'input_file', filename: 'a.pdf' }])] }, 'input[0].content[0].file_data'],
  [{ input: [message([{ type: 'input_file', file_url: 'ftp://a.test/b' }])] }, 'input[0].content[0].file_url'],
  [{ input: [message([{ type: 'input_image', file_id: 'f' }])] }, 'input[0].content[0].file_id'],
  [{ input: [message([{ type: 'input_image', image_url: null }])] }, 'input[0].content[0].image_url'],
  [{ input: [{ type: 'item_reference', id: 'x' }] }, 'input[0].type'],
  [{ input: [{ type: 'function_call', name: 'a', arguments: '{}' }] }, 'input[0].call_id'],
  [{ model: 5 }, 'model'],
  [{ max_output_tokens: 0 }, 'max_output_tokens'],
  [{ reasoning: { effort: 'much' } }, 'reasoning.effort'],
  [{ reasoning: { mode: 'pro' } }, 'reasoning.mode'],
  [{ tool_choice: 'required' }, 'tool_choice'],
  [{ include: ['message.output_text.logprobs'] }, 'include[0]'],
  [{ include: [null] }, 'include[0]'],
  [{ top_logprobs: 2 }, 'top_logprobs'],
  [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
  [{ context_management: [{ type: 'compaction' }] }, 'context_management'],
  [{ moderation: { model: 'omni-moderation-latest' } }, 'moderation'],
  [{ max_tokens: 5 }, 'max_tokens'],
  [{ reasoning_effort: 'high' }, 'reasoning_effort'],
  [{ service_tier: 'priority' }, 'service_tier'],
  [{ prompt_cache_retention: '24h' }, 'prompt_cache_retention'],
] as const)('GEN-9 %j is rejected at %s', ([changes, param]) => {
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
] as const)('RESP-4 GEN-6 %s of %j is rejected as unsupported_parameter', ([param, value]) => {
  expect(refusalOf({ [param]: value })).toMatchObject({ code: 'unsupported_parameter', status: 400, param });
});

test.for(['gpt-5.2-pro', 'gpt-5.4-pro', 'gpt-5.5-pro'])(
  'RESP-3 %s accepts only the efforts medium, high and xhigh',
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

test('CHAT-16 the default of an unsupported field is not sent', () => {
  expect(prepared({ temperature: 1, top_p: 1 }).body).toEqual(sentFor({}));
});

test('CHAT-8 a schema for a model without schemas is rejected, and the error names others', () => {
  const text = { format: { type: 'json_schema', name: 'a', schema: {} } };
  expect(refusalOf({ text }, shipped('gpt-5.4-pro'))).toMatchObject({
    param: 'text.format',
    message: expect.stringContaining('Others.'),
  });
});

test('CHAT-6 inline images are checked before a hold is placed', () => {
  const image = (image_url: string) => ({ input: [message([{ type: 'input_image', image_url }])] });
  for (const url of ['data:image/png;base64,AAAA', 'ftp://example.com/a.png', 'nonsense']) {
    expect(refusalOf(image(url))).toMatchObject({
      code: 'invalid_image_format',
      param: 'input[0].content[0].image_url',
    });
  }
});

test('BILL-5 numbers that grow when serialized count as they are sent', () => {
  const changes = { tools: [{ ...tool, parameters: { type: 'object', maximum: 1e20 } }] };
  const sent = JSON.stringify(bodyOf(changes));
  const received = sent.replace('100000000000000000000', '1e20');
  expect(prepared(changes, undefined, received.length).prompt.bytes).toBe(sent.length);
  expect(prepared({}, undefined, 1_000).prompt.bytes).toBe(1_000);
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

test('BILL-5 a file counts as the whole context, and its characters are not text', () => {
  const image = { type: 'input_image', image_url: png };
  const output = [image, { type: 'input_file', file_data: pdf }];
  const request = prepared({ input: [call, { type: 'function_call_output', call_id: 'c', output }] });
  const { prompt } = request;
  expect(prompt).toMatchObject({ images: ['auto'], documents: 1 });
  expect(prompt.bytes).toBeLessThan(300);
  const model = shipped('gpt-5.5-pro');
  expect(promptTokensAtMost(model, request)).toBe(model.limits.contextTokens);
  const linked = [message([{ type: 'input_file', file_url: 'https://example.com/a.pdf' }])];
  expect(promptTokensAtMost(model, prepared({ input: linked }))).toBe(model.limits.contextTokens);
});
