import { expect, test } from 'vitest';
import { toTextParams } from '../../../../lambdas/protocols/chat-completions/request.ts';
import { able, bodyOf, effortField, png, prepared, refusalOf, showing, tool } from './chat-requests.ts';

const unable = (...names: readonly string[]) => ({
  capabilities: able(Object.fromEntries(names.map((name) => [name, false]))),
});

test('CHAT-3 n above 1 is 422 for a model with a single choice', () => {
  expect(refusalOf({ n: 2 }, unable('multipleChoices'))).toMatchObject({
    code: 'unprocessable_entity',
    status: 422,
    param: 'n',
    message: expect.stringContaining('n:'),
  });
  expect(prepared({ n: 1 }, unable('multipleChoices')).choices).toBe(1);
  expect(prepared({ n: 3 })).toMatchObject({ choices: 3, body: { n: 3 } });
});

/** Limits of a 64 MiB response: 160 bytes per token, 400 bytes per log probability. */
test.for([
  [{ max_tokens: 419430 }, { max_tokens: 419431 }, 'max_tokens'],
  [{ max_completion_tokens: 3276, n: 128 }, { max_completion_tokens: 3277, n: 128 }, 'n'],
  [{ max_completion_tokens: 419430 }, { max_completion_tokens: 419431 }, 'max_completion_tokens'],
  [{ max_tokens: 119837, logprobs: true }, { max_tokens: 119838, logprobs: true }, 'logprobs'],
  [
    { max_tokens: 78, n: 100, logprobs: true, top_logprobs: 20 },
    { max_tokens: 79, n: 100, logprobs: true, top_logprobs: 20 },
    'top_logprobs',
  ],
] as const)('CHAT-3, CHAT-10 the response to %j can be read, the response to %j cannot', ([fits, tooLong, param]) => {
  const tokens = { contextTokens: 4_000_000, outputTokensMax: 3_000_000, outputTokensDefault: 1_000 };
  expect(prepared(fits, { limits: tokens }).body).toMatchObject(fits);
  const error = refusalOf(tooLong, { limits: tokens });
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  expect(error.message).toMatch(new RegExp(`^${param}: .*Stream it`));
  expect(prepared({ ...tooLong, stream: true }).body).toMatchObject(tooLong);
});

test('CHAT-3, CHAT-10 without a cap the entry determines the length of a response', () => {
  const limits = { contextTokens: 1_000_000, outputTokensMax: 64_000, outputTokensDefault: 7839 };
  const fields = { logprobs: true, top_logprobs: 20 };
  expect(prepared(fields, { limits }).body).toMatchObject(fields);
  expect(refusalOf({ ...fields, n: 2 }, { limits })).toMatchObject({ param: 'top_logprobs' });
  expect(refusalOf(fields, { limits: { ...limits, outputTokensDefault: 7840 } })).toMatchObject({
    param: 'top_logprobs',
  });
});

test.for([
  [{ max_tokens: 7 }, 7],
  [{ max_completion_tokens: 8 }, 8],
  [{ max_tokens: 9, max_completion_tokens: 9 }, 9],
  [{ max_tokens: 9, max_completion_tokens: null }, 9],
  [{}, undefined],
] as const)('CHAT-4 %j is a cap of %s', ([fields, cap]) => {
  expect(prepared(fields).outputTokensMax).toBe(cap);
});

test.for([
  [{ max_tokens: 7 }, 'max_tokens'],
  [{ max_completion_tokens: 8 }, 'max_completion_tokens'],
  [{ max_tokens: null, max_completion_tokens: 8 }, 'max_completion_tokens'],
  [{}, 'max_tokens'],
] as const)('BILL-6 errors about the cap of %j name %s', ([fields, name]) => {
  expect(toTextParams(bodyOf(fields), 100, () => '').params.cap).toBe(name);
});

test('CHAT-4 two different caps are 400', () => {
  const error = refusalOf({ max_tokens: 1, max_completion_tokens: 2 });
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param: 'max_tokens' });
  expect(error.message).toContain('max_completion_tokens');
});

const unsupported: readonly (readonly [fields: Readonly<Record<string, unknown>>, capability: string])[] = [
  [{ logprobs: true }, 'logprobs'],
  [{ top_logprobs: 2 }, 'logprobs'],
  [{ tools: [tool()] }, 'tools'],
  [{ stream: true }, 'streaming'],
];

test.for(unsupported)('CHAT-16 %j is 400 without %s, and passes with it', ([fields, capability]) => {
  const [param = ''] = Object.keys(fields);
  const error = refusalOf(fields, unable(capability));
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  expect(error.message).toContain(param);
  expect(prepared(fields).body).toMatchObject(fields);
});

const claude = { upstreams: [{ provider: 'anthropic', model: 'a', wire: 'anthropic_messages', when: 'always' }] };

test.for<[stop: unknown, model: Readonly<Record<string, unknown>>, cuts: boolean]>([
  ['x', {}, false],
  ['x', unable('stop'), true],
  [['x', 'y'], unable('stop'), true],
  [[], unable('stop'), false],
  ['', unable('stop'), false],
  ['x', claude, false],
  [['x', ' \n'], claude, true],
])('CHAT-17 stop %j with %j: the gateway cuts itself is %j', ([stop, model, cuts]) => {
  const { cutAt, body, ignored } = prepared({ stop }, model);
  expect(cutAt !== undefined).toBe(cuts);
  if (cuts) expect(body).not.toHaveProperty('stop');
  expect(ignored).toEqual([]);
});

test('CHAT-17 very long stop sequences are 400 if the gateway searches for them', () => {
  const stop = ['x'.repeat(9_999), 'yy'];
  expect(prepared({ stop }).cutAt).toBeUndefined();
  expect(refusalOf({ stop }, unable('stop'))).toMatchObject({ status: 400, param: 'stop' });
});

test.for([{ temperature: 1 }, { top_p: 1 }, { presence_penalty: 0 }, { frequency_penalty: 0 }, { logprobs: false }])(
  'CHAT-16 the default %j is accepted everywhere and sent only where it is supported',
  (fields) => {
    const [name = ''] = Object.keys(fields);
    expect(prepared(fields, unable('sampling', 'penalties', 'logprobs')).body).not.toHaveProperty(name);
    expect(prepared(fields).body).toMatchObject(fields);
  },
);

test.for(['required', { type: 'function', function: { name: 'get_weather' } }])(
  'CHAT-16 a forced tool_choice %j is 400 where it is not supported',
  (choice) => {
    const fields = { tools: [tool()], tool_choice: choice };
    const error = refusalOf(fields, unable('forcedToolChoice'));
    expect(error).toMatchObject({ code: 'invalid_request_error', param: 'tool_choice' });
    expect(prepared({ ...fields, tool_choice: 'auto' }, unable('forcedToolChoice')).body.tool_choice).toBe('auto');
  },
);

test('CHAT-8 formats that an entry lacks are 400 with the specified message', () => {
  const schema = { type: 'json_schema', json_schema: { name: 'a', schema: {} } };
  expect(refusalOf({ response_format: schema }, unable('jsonSchema'))).toMatchObject({
    status: 400,
    param: 'response_format',
    message: expect.stringContaining('json_schema is not supported with this model'),
  });
  expect(refusalOf({ response_format: { type: 'json_object' } }, unable('jsonObject'))).toMatchObject({
    status: 400,
    param: 'response_format',
  });
  expect(prepared({ response_format: { type: 'text' } }, unable('jsonObject', 'jsonSchema')).body).toMatchObject({
    response_format: { type: 'text' },
  });
});

const reasons = (field: string) => ({ reasoning: effortField(field) });

test('CHAT-9 both effort fields together are 400 on every model', () => {
  for (const model of [{}, reasons('reasoning_effort'), reasons('output_config.effort')]) {
    const error = refusalOf({ reasoning_effort: 'low', output_config: { effort: 'low' } }, model);
    expect(error).toMatchObject({ code: 'invalid_request_error', status: 400 });
    expect(error.message).toContain('cannot be combined');
  }
});

test('GEN-11 an image is 400 for a model without image input', () => {
  const blind = { capabilities: able({ vision: false }), inputTypes: ['text'] };
  for (const url of [png, 'https://example.com/a.png']) {
    expect(refusalOf({ messages: showing(url) }, blind)).toMatchObject({
      code: 'invalid_request_error',
      status: 400,
      param: 'messages[0].content[1].image_url.url',
    });
  }
});

test('GEN-9 fields that only the entry knows are sent unchanged', () => {
  const fields = { top_k: 40, min_p: { deep: [null] } };
  expect(prepared(fields, { extraFields: ['top_k', 'min_p'] }).body).toMatchObject(fields);
  const { body, ignored } = prepared(fields, { extraFields: ['top_k'] });
  expect(body).toMatchObject({ top_k: 40 });
  expect(body).not.toHaveProperty('min_p');
  expect(ignored).toEqual(['min_p']);
});

test('CHAT-5 a request with tools and an effort is accepted and reports both', () => {
  const request = prepared({ tools: [tool()], reasoning_effort: 'low' }, reasons('reasoning_effort'));
  expect(request).toMatchObject({ usesTools: true, effort: 'low' });
  expect(prepared({})).toMatchObject({ usesTools: false, effort: undefined });
});
