import { expect, test } from 'vitest';
import { startSimulated } from '../simulated.ts';

const { simulator } = await startSimulated();

/** Returns the error message, or an empty string if the request was accepted. */
async function refusalOf(more: object, model = 'gemini-3.8-flash'): Promise<string> {
  const url = `${simulator.url}/v1beta/models/${model}:generateContent?key=test`;
  const body = JSON.stringify({ contents: [user('Hello')], ...more });
  const response = await fetch(url, { method: 'POST', body });
  const { error } = JSON.parse(await response.text());
  expect(response.status).toBe(error?.code ?? 200);
  return error?.message ?? '';
}

const user = (text: string) => ({ role: 'user', parts: [{ text }] });
const generic = 'Request contains an invalid argument.';

test.each([
  [{ stream: true }, 'Unknown name "stream": Cannot find field.'],
  [{ contents: [{ ...user('Hi'), name: 'x' }] }, `Unknown name "name" at 'contents[0]': Cannot find field.`],
  [
    { generationConfig: { thinkingConfig: { effort: 'low' } } },
    `Unknown name "effort" at 'generation_config.thinking_config': Cannot find field.`,
  ],
  [
    {
      tools: [
        {
          functionDeclarations: [{ name: 'f', parameters: { type: 'object', properties: { a: {}, b: { const: 1 } } } }],
        },
      ],
    },
    `Unknown name "const" at 'tools[0].function_declarations[0].parameters.properties[1].value': Cannot find field.`,
  ],
])('an unknown name is reported with its place: %j', async (more, message) => {
  expect(await refusalOf(more)).toBe(`Invalid JSON payload received. ${message}`);
});

test('the error details name the field', async () => {
  const url = `${simulator.url}/v1beta/models/gemini-3.8-flash:generateContent?key=test`;
  const response = await fetch(url, { method: 'POST', body: JSON.stringify({ tool_config: { mood: 1 } }) });
  const { error } = JSON.parse(await response.text());
  expect(error.details).toEqual([
    {
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: [{ field: 'tool_config', description: error.message }],
    },
  ]);
});

test.each([
  [{ contents: [] }, '* GenerateContentRequest.contents: contents is not specified\n'],
  [
    { contents: [user('Hi'), { role: 'model', parts: [] }] },
    '* GenerateContentRequest.contents[1].parts: contents.parts must not be empty.\n',
  ],
  [
    { contents: [user('')] },
    "* GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one initialized field\n",
  ],
  [{ contents: [{ role: 'assistant', parts: [{ text: 'Hi' }] }] }, 'Please use a valid role: user, model.'],
  [
    { contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: '%' } }] }] },
    `Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed for "%"`,
  ],
  [
    { contents: [{ parts: [{ inlineData: { mimeType: 'image/gif', data: 'R0lGODlh' } }] }] },
    'Unsupported MIME type: image/gif',
  ],
  [
    { contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: 'bm9wZQ==' } }] }] },
    'Unable to process input image.',
  ],
  [
    { contents: [{ parts: [{ fileData: { fileUri: 'https://gone.invalid/a.png' } }] }] },
    'Cannot fetch content from the provided URL.',
  ],
  [
    { generationConfig: { temperature: 'hot' } },
    `Invalid value at 'generation_config.temperature' (TYPE_FLOAT), "hot"`,
  ],
  [{ generationConfig: { temperature: 3 } }, generic],
  [{ generationConfig: { seed: 2 ** 31 } }, `Invalid value at 'generation_config.seed' (TYPE_INT32), 2147483648`],
  [{ generationConfig: { candidateCount: 2 } }, 'Multiple candidates is not enabled for this model'],
  [{ generationConfig: { presencePenalty: 0.5 } }, 'Penalty is not enabled for this model'],
  [{ generationConfig: { responseLogprobs: true } }, 'Logprobs is not enabled for models/gemini-3.8-flash'],
  [{ generationConfig: { stopSequences: ['1', '2', '3', '4', '5', '6'] } }, generic],
  [{ generationConfig: { responseJsonSchema: { type: 'object' } } }, generic],
  [
    { tools: [{ functionDeclarations: [{ name: '1st' }] }] },
    '* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name. Must start with a letter or an underscore.\n',
  ],
  [{ tools: [{ functionDeclarations: [{ name: 'f' }, { name: 'f' }] }] }, 'Duplicate function declaration found: f'],
  [{ toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['missing'] } } }, generic],
  [{ cachedContent: 'cachedContents/1' }, 'CachedContent not found (or permission denied)'],
])('%j is rejected', async (more, message) => {
  expect(await refusalOf(more)).toBe(message);
});

test.each([
  [
    'gemini-3.8-flash',
    { thinkingLevel: 'minimal' },
    'Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.',
  ],
  ['gemini-3.5-flash-lite', { thinkingLevel: 'minimal' }, ''],
  [
    'gemini-4-argon',
    { thinkingLevel: 'xhigh' },
    'Thinking level XHIGH is not supported for this model. Please retry with other thinking level.',
  ],
  ['gemini-4-argon', { thinkingBudget: 1000 }, 'Thinking budget is not supported for this model.'],
  ['gemini-4-carbon', { thinkingBudget: 1000 }, ''],
  ['gemini-3.8-flash', { thinkingBudget: 0 }, 'Budget 0 is invalid. This model only works in thinking mode.'],
  ['gemini-3.8-flash', { thinkingBudget: 52_428 }, 'The thinking budget (52428) is invalid.'],
  [
    'gemini-3.8-flash',
    { thinkingBudget: 100, thinkingLevel: 'LOW' },
    'You can only set only one of thinking budget and thinking level.',
  ],
])('the simulator checks thinking as the provider does: %s with %j', async (model, thinkingConfig, message) => {
  expect(await refusalOf({ generationConfig: { thinkingConfig } }, model)).toBe(message);
});

test.each([
  ['gemini-3.8-flash', { responseModalities: ['TEXT', 'IMAGE'] }],
  ['gemini-3.8-flash', { imageConfig: { aspectRatio: '1:1' } }],
  ['gemini-nano-banana-2.1', { responseModalities: ['AUDIO'] }],
  ['gemini-nano-banana-2.1', { imageConfig: { aspectRatio: '7:1' } }],
  ['gemini-nano-banana-2.1', { imageConfig: { imageSize: '8K' } }],
  ['gemini-nano-banana-2.1', { imageConfig: { imageSize: '1k' } }],
  ['gemini-3.1-flash-lite-image', { imageConfig: { imageSize: '2K' } }],
  ['gemini-3-pro-image', { imageConfig: { aspectRatio: '1:8' } }],
])('%s rejects the image settings %j', async (model, generationConfig) => {
  expect(await refusalOf({ generationConfig }, model)).not.toBe('');
});

const call = (name: string, thoughtSignature?: string) => ({ functionCall: { name, args: {} }, thoughtSignature });
const response = (name: string) => ({ functionResponse: { name, response: { output: 'ok' } } });
const asked = (...parts: object[]) => [user('Do'), { role: 'model', parts }];
const answered = (...parts: object[]) => ({ role: 'user', parts });
const skip = 'skip_thought_signature_validator';
const missing = (name: string, position: number) =>
  expect.stringMatching(
    new RegExp(
      `^Function call is missing a thought_signature in functionCall parts.*\`default_api:${name}\` , position ${position}\\.`,
    ),
  );
const counts = expect.stringMatching(/^Please ensure that the number of function response parts is equal/);
const order = expect.stringMatching(/^Please ensure that function response turn comes immediately after/);

test('a reference in a function response is rejected', async () => {
  const result = { functionResponse: { name: 'a', response: { items: [{ $ref: '#/$defs/A' }] } } };
  expect(await refusalOf({ contents: [...asked(call('a', skip)), answered(result)] })).toMatch(/`#\/\$defs\/A`/);
});

test.each([
  ['a sentinel', [...asked(call('a', skip)), answered(response('a'))], ''],
  ['one signature for two calls', [...asked(call('a', skip), call('b')), answered(response('a'), response('b'))], ''],
  ['no signature', [...asked(call('a')), answered(response('a'))], missing('a', 2)],
  [
    'none on the first call',
    [...asked(call('a'), call('b', skip)), answered(response('a'), response('b'))],
    missing('a', 2),
  ],
  [
    'none in the second step',
    [
      ...asked(call('a', skip)),
      answered(response('a')),
      { role: 'model', parts: [call('b')] },
      answered(response('b')),
    ],
    missing('b', 4),
  ],
  ['none in an earlier turn', [...asked(call('a')), answered(response('a')), user('And now?')], ''],
  ['a forged signature', [...asked(call('a', 'Zm9yZ2Vk')), answered(response('a'))], 'Corrupted thought signature.'],
  ['one response too few', [...asked(call('a', skip), call('b')), answered(response('a'))], counts],
  [
    'responses in two contents',
    [...asked(call('a', skip), call('b')), answered(response('a')), answered(response('b'))],
    counts,
  ],
  ['a call without a response', asked(call('a', skip)), counts],
  ['a response without a call', [user('Do'), answered(response('a'))], order],
  ['a response with another name', [...asked(call('a', skip)), answered(response('b'))], generic],
  [
    'a call before any user message',
    asked(call('a', skip)).slice(1),
    expect.stringMatching(/^Please ensure that function call turn comes/),
  ],
])('the simulator checks function turns as the provider does: %s', async (_, contents, message) => {
  expect(await refusalOf({ contents })).toEqual(message);
});
