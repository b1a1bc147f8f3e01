import { expect, test } from 'vitest';
import {
  bodyOf,
  configured,
  hello,
  inline,
  linked,
  png,
  preparedBody,
  refusalOf,
  refusedBy,
  saying,
  snakeBodyOf,
} from './content-requests.ts';

const declared = (more: object = {}) => ({ tools: [{ functionDeclarations: [{ name: 'weather', ...more }] }] });
const calling = (more: object) => ({ toolConfig: { functionCallingConfig: more } });
const thinking = (thinkingConfig: object) => configured({ thinkingConfig });

const accepted: readonly object[] = [
  {},
  { contents: [{ parts: [{ text: 'a' }] }, { role: 'model', parts: [{ text: 'b' }] }, hello] },
  { contents: [{ role: 'USER', parts: [{ text: 'a' }] }, { role: 'model' }] },
  saying({ text: '' }, { text: 'thought', thought: true, thoughtSignature: 'c2ln' }),
  saying({
    functionCall: { id: '1', name: 'weather', args: { city: 'Paris', deep: [1, null] } },
    thoughtSignature: 'x',
  }),
  saying({ functionResponse: { id: '1', name: 'weather', response: { output: 'rain' } } }),
  saying({
    functionResponse: { name: 'draw', willContinue: false, scheduling: 'SILENT', parts: [inline('image/png', png)] },
  }),
  saying({ ...inline('image/png', png), mediaResolution: { level: 'MEDIA_RESOLUTION_ULTRA_HIGH' } }),
  saying({ ...inline('video/mp4', 'AAAA'), videoMetadata: { startOffset: '1s', endOffset: '2s', fps: 0.5 } }),
  saying(inline('audio/wav;rate=16000', 'AAAA')),
  saying(linked('https://youtu.be/a', { mimeType: 'video/mp4' })),
  { systemInstruction: { role: 'system', parts: [{ text: 'Be brief.' }, { text: 'Rhyme.' }] } },
  declared({ description: 'd', parameters: { type: 'OBJECT' }, response: { type: 'STRING' } }),
  declared({ parametersJsonSchema: { type: 'object' }, responseJsonSchema: true }),
  { ...declared(), ...calling({ mode: 'any', allowedFunctionNames: ['weather'] }) },
  { ...declared(), toolConfig: { includeServerSideToolInvocations: false } },
  { safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }] },
  { continuationToken: 'b3BhcXVl' },
  { labels: { team: 'a' } },
  { serviceTier: 'standard' },
  configured({ temperature: 0, topP: 1, topK: 40 }),
  configured({ candidateCount: 1, maxOutputTokens: 1, stopSequences: ['a', 'b'], seed: -5 }),
  configured({ presencePenalty: -2, frequencyPenalty: 2, responseLogprobs: true, logprobs: 20 }),
  configured({ responseMimeType: 'application/json', responseSchema: { type: 'OBJECT' } }),
  configured({ responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } }),
  configured({ responseMimeType: 'text/x.enum', responseSchema: { enum: ['a'] } }),
  configured({ responseModalities: ['text'], mediaResolution: 'MEDIA_RESOLUTION_LOW' }),
  thinking({ thinkingLevel: 'HIGH', includeThoughts: true }),
  thinking({ thinkingLevel: 'a_level_to_come', includeThoughts: false }),
  thinking({ thinkingBudget: -1 }),
];

test.for(accepted)('GEM-1 %j is sent on from either spelling', (changes) => {
  const body = bodyOf(changes);
  expect(preparedBody(body).body).toEqual(body);
  expect(preparedBody(snakeBodyOf(changes)).body).toEqual(body);
});

const refused: readonly (readonly [changes: object, param: string])[] = [
  [{ contents: undefined }, 'contents'],
  [{ contents: [] }, 'contents'],
  [{ contents: [{ role: 'system', parts: [] }] }, 'contents[0].role'],
  [{ contents: [{ parts: ['Hello'] }] }, 'contents[0].parts[0]'],
  [{ contents: [hello, { content: 'a' }] }, 'contents[1].content'],
  [saying({ text: 5 }), 'contents[0].parts[0].text'],
  [saying({ thought: 'yes' }), 'contents[0].parts[0].thought'],
  [saying({ inlineData: { mimeType: 'image/png' } }), 'contents[0].parts[0].inlineData.data'],
  [saying({ functionCall: { name: 'a', args: [] } }), 'contents[0].parts[0].functionCall.args'],
  [saying({ functionResponse: { name: 'a', response: 'b' } }), 'contents[0].parts[0].functionResponse.response'],
  [
    saying({ functionResponse: { name: 'a', parts: [{ text: 'b' }] } }),
    'contents[0].parts[0].functionResponse.parts[0].text',
  ],
  [saying({ videoMetadata: { fps: 1.01 } }), 'contents[0].parts[0].videoMetadata.fps'],
  [saying({ mediaResolution: { level: 'HUGE' } }), 'contents[0].parts[0].mediaResolution.level'],
  ...['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'].flatMap((name) => [
    [saying({ [name]: {} }), `contents[0].parts[0].${name}`] as const,
    [{ contents: [{ role: 'model', parts: [{ text: 'a', [name]: {} }] }] }, `contents[0].parts[0].${name}`] as const,
  ]),
  [saying({ mediaProcessing: {} }), 'contents[0].parts[0].mediaProcessing'],
  [saying({ text: null, mediaProcessing: {} }), 'contents[0].parts[0].mediaProcessing'],
  [
    { contents: [{ role: 'model', parts: [{ audioTranscription: { text: 'a' } }] }] },
    'contents[0].parts[0].audioTranscription',
  ],
  [{ systemInstruction: 'Be brief.' }, 'systemInstruction'],
  [{ systemInstruction: { text: 'Be brief.' } }, 'systemInstruction.text'],
  [{ systemInstruction: { parts: [{}] } }, 'systemInstruction.parts[0].text'],
  [{ systemInstruction: { parts: [{ language: 'en' }] } }, 'systemInstruction.parts[0].language'],
  ...['inlineData', 'fileData', 'functionCall', 'functionResponse'].map(
    (name) =>
      [{ systemInstruction: { parts: [{ text: 'a', [name]: {} }] } }, `systemInstruction.parts[0].${name}`] as const,
  ),
  ...['googleSearch', 'googleMaps', 'urlContext', 'codeExecution', 'fileSearch', 'computerUse', 'retrieval'].map(
    (name) => [{ tools: [{ functionDeclarations: [] }, { [name]: {} }] }, `tools[1].${name}`] as const,
  ),
  [{ tools: [{ functionDeclarations: [{ name: 'a' }], googleSearch: {} }] }, 'tools[0].googleSearch'],
  [{ tools: [{ mcpServers: [{ name: 'a' }] }] }, 'tools[0].mcpServers'],
  [declared({ name: '' }), 'tools[0].functionDeclarations[0].name'],
  [declared({ parameters: 'none' }), 'tools[0].functionDeclarations[0].parameters'],
  [calling({ mode: 'FORCE' }), 'toolConfig.functionCallingConfig.mode'],
  [calling({ allowedFunctionNames: 'weather' }), 'toolConfig.functionCallingConfig.allowedFunctionNames'],
  [{ toolConfig: { includeServerSideToolInvocations: true } }, 'toolConfig.includeServerSideToolInvocations'],
  [{ cachedContent: 'cachedContents/a' }, 'cachedContent'],
  [{ serviceTier: 'flex' }, 'serviceTier'],
  [{ serviceTier: 'PRIORITY' }, 'serviceTier'],
  [{ store: true }, 'store'],
  [{ stream: true }, 'stream'],
  [{ labels: { a: 1 } }, 'labels.a'],
  [{ continuationToken: 5 }, 'continuationToken'],
  [configured({ temperature: '0.5' }), 'generationConfig.temperature'],
  [configured({ candidateCount: 9 }), 'generationConfig.candidateCount'],
  [configured({ maxOutputTokens: 0 }), 'generationConfig.maxOutputTokens'],
  [configured({ stopSequences: 'end' }), 'generationConfig.stopSequences'],
  [configured({ stopSequences: ['a', 1] }), 'generationConfig.stopSequences[1]'],
  [configured({ seed: 1.5 }), 'generationConfig.seed'],
  [configured({ logprobs: 21 }), 'generationConfig.logprobs'],
  [configured({ responseMimeType: 'image/png' }), 'generationConfig.responseMimeType'],
  [configured({ responseModalities: ['AUDIO'] }), 'generationConfig.responseModalities[0]'],
  [configured({ responseModalities: ['TEXT', 'IMAGE'] }), 'generationConfig.responseModalities'],
  [configured({ mediaResolution: 'HUGE' }), 'generationConfig.mediaResolution'],
  [thinking({ thinkingBudget: '5' }), 'generationConfig.thinkingConfig.thinkingBudget'],
  [thinking({ thinkingLevel: 'high, please' }), 'generationConfig.thinkingConfig.thinkingLevel'],
  [thinking({ includeThoughts: 'yes' }), 'generationConfig.thinkingConfig.includeThoughts'],
  [configured({ imageConfig: {} }), 'generationConfig.imageConfig'],
  [configured({ speechConfig: { languageCode: 'en-US' } }), 'generationConfig.speechConfig'],
  [configured({ responseFormat: [{ text: {} }] }), 'generationConfig.responseFormat'],
];

test.for(refused)('GEN-9 %j is 400 and names %s', ([changes, param]) => {
  const error = refusalOf(changes);
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  expect(error.message).toContain(`${param}:`);
});

test.for(refused)('GEN-9 %j is also rejected in the spelling of the .proto file', ([changes, param]) => {
  const error = refusedBy(() => preparedBody(snakeBodyOf(changes)));
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
});

test('GEN-2 the error for a body full of wrong members describes only the first', () => {
  const contents = Array.from({ length: 9_000 }, () => ({ parts: Array.from({ length: 50 }, () => ({ wrong: 1 })) }));
  const error = refusalOf({ contents });
  expect(error.param).toBe('contents[0].parts[0].wrong');
  expect(error.message.length).toBeLessThan(200);
});

test.for(['function', 'tool', 'Function'])('GEM-1 contents of the role %s are sent as those of the user', (role) => {
  const parts = [{ functionResponse: { name: 'weather', response: {} } }];
  expect(preparedBody({ contents: [hello, { role, parts }] }).body.contents).toEqual([hello, { role: 'user', parts }]);
});
