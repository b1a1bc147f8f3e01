import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../lambdas/core/json.ts';
import {
  bodyOf,
  configured,
  hello,
  inline,
  inSnake,
  linked,
  png,
  prepared,
  preparedBody,
  refusalOf,
  saying,
  shipped,
  snakeBodyOf,
} from './content-requests.ts';

const model = (...parts: readonly object[]) => ({ contents: [{ role: 'model', parts }] });
const declared = (more: object) => ({ tools: [{ functionDeclarations: [{ name: 'weather', ...more }] }] });
const call = { name: 'weather', args: { city: null } };

const listed: readonly (readonly [changes: object, sent: object, ignored: readonly string[]])[] = [
  [{ modelArmorConfig: {}, foo: 1 }, {}, ['foo', 'modelArmorConfig']],
  [
    configured({ seed: 1, presencePenalty: 1, frequencyPenalty: 1 }),
    configured({ seed: 1 }),
    ['generationConfig.frequencyPenalty', 'generationConfig.presencePenalty'],
  ],
  ...['audioTimestamp', 'enableEnhancedCivicAnswers', 'routingConfig', 'modelSelectionConfig', 'foo'].map(
    (name) => [configured({ topK: 3, [name]: true }), configured({ topK: 3 }), [`generationConfig.${name}`]] as const,
  ),
  [
    configured({ thinkingConfig: { thinkingBudget: 1, foo: 1 } }),
    configured({ thinkingConfig: { thinkingBudget: 1 } }),
    ['generationConfig.thinkingConfig.foo'],
  ],
  [declared({ behavior: 'NON_BLOCKING' }), declared({}), ['tools[].functionDeclarations[].behavior']],
  [
    { toolConfig: { retrievalConfig: {}, functionCallingConfig: { mode: 'AUTO', streamFunctionCallArguments: true } } },
    { toolConfig: { functionCallingConfig: { mode: 'AUTO' } } },
    ['toolConfig.functionCallingConfig.streamFunctionCallArguments', 'toolConfig.retrievalConfig'],
  ],
  [
    { safetySettings: [{ category: 'a', method: 'SEVERITY' }] },
    { safetySettings: [{ category: 'a' }] },
    ['safetySettings[].method'],
  ],
  [saying({ text: 'a', mediaProcessing: {} }), saying({ text: 'a' }), ['contents[].parts[].mediaProcessing']],
  [{ contents: [{ ...hello, name: 'Ada' }] }, { contents: [hello] }, ['contents[].name']],
  [
    saying({ inlineData: { ...inline('image/png', png).inlineData, foo: 1 } }),
    saying(inline('image/png', png)),
    ['contents[].parts[].inlineData.foo'],
  ],
  [
    saying({ ...linked('https://youtu.be/a'), videoMetadata: { fps: 1, foo: 1 } }),
    saying({ ...linked('https://youtu.be/a'), videoMetadata: { fps: 1 } }),
    ['contents[].parts[].videoMetadata.foo'],
  ],
  [
    { systemInstruction: { parts: [{ text: 'a', thought: true }] } },
    { systemInstruction: { parts: [{ text: 'a' }] } },
    ['systemInstruction.parts[].thought'],
  ],
];

test.for(listed)('GEN-16 unknown fields of a request are listed: %j', ([changes, sent, ignored]) => {
  for (const body of [bodyOf(changes), snakeBodyOf(changes)]) {
    const request = preparedBody(body, shipped());
    expect(request.ignored).toEqual(ignored);
    expect(request.body).toEqual(bodyOf(sent));
  }
});

const accepted: readonly (readonly [changes: object, sent: object])[] = [
  [{ store: false, cachedContent: null, foo: null }, {}],
  [configured({ speechConfig: {}, responseFormat: [], seed: null, foo: null }), configured({})],
  [
    { tools: [{ functionDeclarations: [], googleSearch: null, mcpServers: [] }] },
    { tools: [{ functionDeclarations: [] }] },
  ],
  [
    saying({ inlineData: { ...inline('image/png', png).inlineData, displayName: 'a.png' } }),
    saying(inline('image/png', png)),
  ],
  [saying(linked('https://youtu.be/a', { displayName: 'a' })), saying(linked('https://youtu.be/a'))],
  [saying({ functionCall: { ...call, partialArgs: [], willContinue: false } }), saying({ functionCall: call })],
  [
    saying({
      functionResponse: {
        name: 'draw',
        foo: 1,
        response: { foo: null },
        parts: [{ inlineData: { ...inline('image/png', png).inlineData, displayName: 'a' } }],
      },
    }),
    saying({ functionResponse: { name: 'draw', response: { foo: null }, parts: [inline('image/png', png)] } }),
  ],
  [
    { contents: [{ role: 'MODEL', id: '1', parts: [{ text: 'a', foo: 1, inlineData: null }] }] },
    { contents: [{ role: 'MODEL', parts: [{ text: 'a' }] }] },
  ],
  [
    model({ functionCall: call, thoughtSignature: 'c2ln', foo: 1 }, { text: '', speechMetadata: { a: 1 } }),
    model({ functionCall: call, thoughtSignature: 'c2ln' }, { text: '' }),
  ],
  [model({ inlineData: { ...inline('image/png', png).inlineData, foo: 1 } }), model(inline('image/png', png))],
];

test.for(accepted)('GEN-16 members without an effect or from a response are accepted: %j', ([changes, sent]) => {
  const request = prepared(changes);
  expect(request.ignored).toEqual([]);
  expect(request.body).toEqual(bodyOf(sent));
});

test.for([
  [{ max_output_tokens: 5 }, 'maxOutputTokens', 'Use generationConfig.maxOutputTokens.'],
  [{ max_tokens: 5 }, 'maxTokens', 'Did you mean generationConfig.maxOutputTokens?'],
  [{ content: [hello] }, 'content', 'Did you mean contents?'],
  [{ tool: [] }, 'tool', 'Did you mean tools?'],
  [{ tool_choice: 'auto' }, 'toolChoice', 'Remove it.'],
  [{ messages: [] }, 'messages', 'Did you mean contents?'],
  [{ stream: true }, 'stream', 'Remove it.'],
  [{ generationconfig: {} }, 'generationconfig', 'Did you mean generationConfig?'],
  [configured({ maxOutputToken: 5 }), 'generationConfig.maxOutputToken', 'Did you mean maxOutputTokens?'],
  [configured({ max_tokens: 5 }), 'generationConfig.maxTokens', 'Did you mean maxOutputTokens?'],
  [configured({ max_completion_tokens: 5 }), 'generationConfig.maxCompletionTokens', 'Did you mean maxOutputTokens?'],
] as const)('GEN-16 %j is a near miss at %s', ([changes, param, fix]) => {
  const { message, ...error } = refusalOf(changes);
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  expect(message).toContain(fix);
});

test.for([
  [{ cached_content: 'cachedContents/a' }, 'cachedContent', /Send the content/],
  [{ store: true }, 'store', /stores no requests/],
  [{ tools: [{ google_search: {} }] }, 'tools[0].googleSearch', /runs at the provider.*functionDeclarations/],
  [saying({ executable_code: {} }), 'contents[0].parts[0].executableCode', /runs at the provider/],
  [configured({ speech_config: { voiceConfig: {} } }), 'generationConfig.speechConfig', /audio\/speech/],
  [configured({ response_format: [{}] }), 'generationConfig.responseFormat', /responseJsonSchema/],
  [configured({ responseModalities: ['AUDIO'] }), 'generationConfig.responseModalities[0]', /"TEXT", "IMAGE"/],
  [{ serviceTier: 'flex' }, 'serviceTier', /"standard"/],
] as const)('GEN-9 %j is 400 with the reason and the fix', ([changes, param, message]) => {
  expect(refusalOf(changes)).toMatchObject({ status: 400, param, message: expect.stringMatching(message) });
});

const rich = bodyOf({
  contents: [
    hello,
    { role: 'model', parts: [{ text: 'a', thought: true }, { functionCall: { id: '1', name: 'weather' } }] },
    { role: 'user', parts: [{ functionResponse: { id: '1', name: 'weather', parts: [inline('image/png', png)] } }] },
    { parts: [{ ...linked('https://youtu.be/a'), videoMetadata: { fps: 1 }, mediaResolution: {} }] },
  ],
  systemInstruction: { parts: [{ text: 'Be brief.' }] },
  tools: [{ functionDeclarations: [{ name: 'weather' }] }],
  toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
  safetySettings: [{ category: 'a' }],
  generationConfig: { topK: 3, thinkingConfig: { includeThoughts: true } },
});

const openBy = (name: string): boolean => name !== 'tools';

/** All objects of the body to which a client can add members. */
const objectsIn = (value: JsonValue): JsonObject[] => {
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => objectsIn(item));
  if (!isJsonObject(value)) return [];
  const below = Object.entries(value).flatMap(([name, member]) =>
    openBy(name) ? objectsIn(member ?? null) : objectsIn(member ?? null).slice(1),
  );
  return [value, ...below];
};

test('GEN-16 unknown members at any depth change neither the body, the hold nor the header', () => {
  const { body: sent, prompt } = preparedBody(rich, shipped());
  const places = objectsIn(rich).length;
  const added = fc.record({
    at: fc.nat(places - 1),
    // The prefix keeps the name far from every guarded name.
    name: fc.string({ unit: 'binary', maxLength: 80 }).map((rest) => `zzz${rest}`),
    value: fc.jsonValue(),
  });
  fc.assert(
    fc.property(fc.array(added, { minLength: 1, maxLength: 30 }), fc.boolean(), (members, isSnake) => {
      const body: JsonObject = structuredClone(rich);
      const objects = objectsIn(body);
      for (const { at, name, value } of members)
        Object.assign(objects[at] ?? {}, JSON.parse(JSON.stringify({ [name]: value })));
      const came = isSnake ? inSnake(body) : body;
      if (!isJsonObject(came)) throw new Error('no object');
      const request = preparedBody(came, shipped());
      expect(request.body).toEqual(sent);
      expect(request.prompt).toEqual(prompt);
      expect(request.ignored.length).toBeLessThanOrEqual(20);
      for (const entry of request.ignored) expect(entry).toMatch(/^[\w.[\]%-]{1,64}$/);
    }),
  );
});
