import { expect, test } from 'vitest';
import { toTextParams } from '../../../../lambdas/protocols/chat-completions/request.ts';
import { bodyOf, effortField, hello, prepared, refusalOf, tool } from './chat-requests.ts';

const schema = { type: 'json_schema', json_schema: { name: 'a', strict: true, schema: { type: 'object' } } };
const effort = { reasoning: effortField('reasoning_effort') };

/** Every field with valid values: its lower bound, its upper bound, and its other forms. */
test.for([
  {
    ...{ temperature: 0, top_p: 0, max_tokens: 1, n: 1, presence_penalty: -2, frequency_penalty: -2, seed: -5 },
    ...{ stop: 'end', stream: true, stream_options: { include_usage: true }, user: '', logit_bias: { '50256': -100 } },
    ...{ tools: [tool()], tool_choice: 'none', response_format: { type: 'text' }, service_tier: 'auto', store: false },
  },
  {
    ...{ temperature: 2, top_p: 1, max_completion_tokens: 1, n: 128, presence_penalty: 2, frequency_penalty: 2 },
    ...{ stop: ['a', 'b', 'c', 'd'], stream: false, stream_options: {}, user: 'u'.repeat(256), seed: 0 },
    ...{ logit_bias: { '1': 100 }, logprobs: true, top_logprobs: 20, response_format: { type: 'json_object' } },
    ...{ tools: [tool({ description: 'd', strict: true, parameters: undefined })], tool_choice: 'auto' },
    ...{ metadata: { a: 'b' }, prompt_cache_key: 'k', prompt_cache_retention: 'in_memory', safety_identifier: 's' },
    ...{ verbosity: 'low', modalities: ['text'], service_tier: 'default', parallel_tool_calls: false },
  },
  { max_tokens: 9_007_199_254_740_991, stream: true },
  { tools: [tool()], tool_choice: 'required', response_format: schema },
  { tools: [tool()], tool_choice: { type: 'function', function: { name: 'get_weather' } } },
])('CHAT-1 %j is accepted', (fields) => {
  expect(() => prepared(fields)).not.toThrow();
});

test.for(['none', 'minimal', 'low', 'medium', 'high', 'xhigh'])('CHAT-9 reasoning_effort %s is accepted', (level) => {
  expect(prepared({ reasoning_effort: level }, effort)).toMatchObject({
    effort: level,
    body: { reasoning_effort: level },
  });
});

test.for(['low', 'medium', 'high', 'xhigh', 'max'])('CHAT-9 output_config.effort %s is accepted', (level) => {
  const { body } = prepared({ output_config: { effort: level } }, { reasoning: effortField('output_config.effort') });
  expect(body.output_config).toEqual({ effort: level });
});

const bad: readonly (readonly [fields: Readonly<Record<string, unknown>>, param: string])[] = [
  [{ temperature: -0.01 }, 'temperature'],
  [{ temperature: 2.01 }, 'temperature'],
  [{ top_p: -0.1 }, 'top_p'],
  [{ top_p: 1.1 }, 'top_p'],
  [{ max_tokens: 0 }, 'max_tokens'],
  [{ max_tokens: 1.5 }, 'max_tokens'],
  [{ max_tokens: 2 ** 53 }, 'max_tokens'],
  [{ max_completion_tokens: 0 }, 'max_completion_tokens'],
  [{ n: 0 }, 'n'],
  [{ n: 129 }, 'n'],
  [{ stop: 5 }, 'stop'],
  [{ stop: ['a', 5] }, 'stop[1]'],
  [{ presence_penalty: -2.1 }, 'presence_penalty'],
  [{ presence_penalty: 2.1 }, 'presence_penalty'],
  [{ frequency_penalty: 3 }, 'frequency_penalty'],
  [{ stream: 'true' }, 'stream'],
  [{ stream_options: { include_usage: 1 } }, 'stream_options.include_usage'],
  [{ tools: {} }, 'tools'],
  [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
  [{ tools: [tool(), tool({ name: 'no blanks' })] }, 'tools[1].function.name'],
  [{ tools: [tool({ name: 'x'.repeat(65) })] }, 'tools[0].function.name'],
  [{ tools: [tool({ parameters: 'object' })] }, 'tools[0].function.parameters'],
  [{ tools: [tool()], tool_choice: 'any' }, 'tool_choice'],
  [{ tools: [tool()], tool_choice: { type: 'function' } }, 'tool_choice.function'],
  [{ response_format: { type: 'xml' } }, 'response_format.type'],
  [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
  [{ response_format: { type: 'json_schema', json_schema: {} } }, 'response_format.json_schema.name'],
  [{ seed: 1.5 }, 'seed'],
  [{ reasoning_effort: 'max' }, 'reasoning_effort'],
  [{ output_config: { effort: 'minimal' } }, 'output_config.effort'],
  [{ logit_bias: { a: 101 } }, 'logit_bias.a'],
  [{ top_logprobs: 21 }, 'top_logprobs'],
];

test.for(bad)('CHAT-1 %j is 400 with param %s', ([fields, param]) => {
  const error = refusalOf(fields);
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  expect(error.message).toContain(param);
});

test.for([
  [{ service_tier: 'priority' }, 'service_tier'],
  [{ store: true }, 'store'],
  [{ modalities: ['text', 'audio'] }, 'modalities'],
  [{ prompt_cache_retention: '24h' }, 'prompt_cache_retention'],
  [{ functions: [{ name: 'f' }] }, 'functions'],
  [{ function_call: 'auto' }, 'function_call'],
  [{ prediction: { type: 'content', content: 'x' } }, 'prediction'],
  [{ audio: { voice: 'alloy', format: 'mp3' } }, 'audio'],
  [{ web_search_options: { search_context_size: 'low' } }, 'web_search_options'],
  [{ moderation: { model: 'm' } }, 'moderation'],
] as const)('GEN-9 %j gets an error that names it', ([fields, param]) => {
  const error = refusalOf(fields);
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400 });
  expect(error.param?.startsWith(param)).toBe(true);
  expect(error.message).toContain(param);
});

test.for([
  [{ input: 'x' }, 'input', 'Did you mean messages?'],
  [{ contents: [] }, 'contents', 'Did you mean messages?'],
  [{ max_output_tokens: 5 }, 'max_output_tokens', 'Did you mean max_completion_tokens?'],
  [{ maxTokens: 5 }, 'maxTokens', 'Did you mean max_tokens?'],
  [{ thinking: { type: 'enabled' } }, 'thinking', 'Did you mean reasoning_effort?'],
  [{ instructions: 'x' }, 'instructions', 'Send a message with role "system".'],
  [{ system: 'x' }, 'system', 'Send a message with role "system".'],
] as const)('CHAT-1, GEN-16 %j of another protocol is rejected at %s', ([fields, param, fix]) => {
  expect(refusalOf(fields)).toMatchObject({ status: 400, param, message: expect.stringContaining(fix) });
});

test.for([
  [{ reasoning_effort: 'max' }, ['none', 'minimal', 'low', 'medium', 'high', 'xhigh']],
  [{ tools: [tool()], tool_choice: 'any' }, ['none', 'auto', 'required']],
  [{ messages: [{ role: 'robot', content: 'x' }] }, ['system', 'user', 'assistant', 'tool']],
  [{ messages: [{ role: 'user', content: [{ type: 'sound' }] }] }, ['text', 'image_url']],
] as const)('GEN-4 the message for %j lists the allowed values', ([fields, allowed]) => {
  const { message } = refusalOf(fields);
  for (const value of allowed) expect(message).toMatch(new RegExp(`['"]${value}['"]`));
});

test.for([undefined, null, '', 5, ['alpha-1']])('CAT-6 a model of %j is 400 with param model', (model) => {
  expect(refusalOf({ model })).toMatchObject({ code: 'invalid_request_error', status: 400, param: 'model' });
});

test('CHAT-1 null in a field counts as absent', () => {
  const { body } = prepared({ temperature: null, n: null, stop: null, max_tokens: null, seed: null, stream: null });
  expect(body).toEqual({ model: 'alpha-1', messages: [hello] });
});

test('CHAT-1 an absent field is not sent', () => {
  expect(prepared({}).body).toEqual(bodyOf({}));
});

test('CHAT-15 the end user is stored and sent', () => {
  expect(prepared({ user: 'me' }).body.user).toBe('me');
});

test('CHAT-15 an end user of more than 256 characters is ignored and listed', () => {
  const { body, ignored } = prepared({ user: 'u'.repeat(257) });
  expect(body).not.toHaveProperty('user');
  expect(ignored).toEqual(['user']);
  const json = bodyOf({ user: '\u{1F600}'.repeat(256) });
  expect(toTextParams(json, 0, () => '').endUser).toBe(json.user);
  expect(toTextParams(bodyOf({ user: 'u'.repeat(257) }), 0, () => '').endUser).toBeUndefined();
});
