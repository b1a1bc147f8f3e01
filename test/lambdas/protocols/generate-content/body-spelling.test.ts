import { expect, test } from 'vitest';
import { bodyOf, configured, hello, png, prepared, refusalOf, saying } from './content-requests.ts';

test.for([
  [
    { systemInstruction: { parts: [{ text: 'a' }] }, system_instruction: { parts: [{ text: 'b' }] } },
    'system_instruction',
  ],
  [configured({ max_output_tokens: 5, maxOutputTokens: 50_000 }), 'generationConfig.maxOutputTokens'],
  [
    saying({ inline_data: { mime_type: 'text/plain', mimeType: 'image/png', data: png } }),
    'contents[0].parts[0].inlineData.mimeType',
  ],
  [{ tool_config: {}, toolConfig: {} }, 'toolConfig'],
  [{ generationConfig: {}, generation_config: { candidateCount: 8 } }, 'generation_config'],
] as const)('GEN-9 a field in two spellings is 400: %j', ([changes, param]) => {
  const error = refusalOf(changes);
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  expect(error.message).toContain('two spellings');
});

test('GEN-9 a name that mixes snake_case and camelCase is an unknown field', () => {
  expect(refusalOf({ generation_Config: {} })).toMatchObject({ param: 'generation_Config' });
  expect(prepared(configured({ top__p: 1 }))).toMatchObject({
    body: { generationConfig: {} },
    ignored: ['generationConfig.top_P'],
  });
  expect(prepared({ constructor: {} }).ignored).toEqual(['constructor']);
});

test('GEM-1 null counts as absent in protobuf messages, and is kept in arguments of calls', () => {
  const args = { a: null };
  const changes = {
    ...saying({ text: null, functionCall: { name: 'a', id: null, args } }),
    systemInstruction: null,
    system_instruction: null,
    cachedContent: null,
    generationConfig: { temperature: null, topK: 4, top_k: null },
  };
  expect(prepared(changes).body).toEqual({
    ...saying({ functionCall: { name: 'a', args } }),
    generationConfig: { topK: 4 },
  });
});

test('GEM-1 an object in place of a list counts as a list of one', () => {
  const changes = {
    contents: { role: 'user', parts: { text: 'Hello' } },
    systemInstruction: { parts: { text: 'Be brief.' } },
    tools: { functionDeclarations: { name: 'weather' } },
    safetySettings: { category: 'a' },
  };
  expect(prepared(changes).body).toEqual({
    contents: [hello],
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    tools: [{ functionDeclarations: [{ name: 'weather' }] }],
    safetySettings: [{ category: 'a' }],
  });
});

test('GEM-1 names inside arguments, results and schemas belong to the client', () => {
  const own = { any_of: [{ max_items: '2' }], camelCase: { snake_case: null } };
  const changes = {
    ...saying({ functionCall: { name: 'a', args: own } }, { functionResponse: { name: 'a', response: own } }),
    tools: [{ functionDeclarations: [{ name: 'a', parameters: own, parametersJsonSchema: own }] }],
    generationConfig: { responseSchema: own, responseJsonSchema: own },
  };
  expect(prepared(changes).body).toEqual(bodyOf(changes));
});

test.for(['gemini-4-argon', 'models/gemini-4-argon'])('GEM-4 a body can repeat the model of its path: %s', (model) => {
  expect(prepared({ model }).body).toEqual(bodyOf({}));
});

test.for(['gemini-4-carbon', 'models/models/gemini-4-argon', '', 'tunedModels/a'])(
  'CAT-6 a body with a different model than its path is 400: %s',
  (model) => {
    const error = refusalOf({ model });
    expect(error).toMatchObject({ code: 'invalid_request_error', param: 'model' });
    expect(error.message).toContain('gemini-4-argon');
  },
);
