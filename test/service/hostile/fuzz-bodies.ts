import * as routes from '../../support/hostile-routes.ts';

/** A route and valid bodies, which together contain every field of its specification. */
export interface Fuzzed {
  readonly route: routes.PostRoute;
  readonly bodies: readonly object[];
}

const schema = {
  type: 'object',
  properties: { at: { type: 'string' } },
  required: ['at'],
  additionalProperties: false,
};
const base64 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('base64');
const PNG = base64('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x02\0\0\0');

const MINI = { model: 'gpt-4.1-mini', max_tokens: 20 };
const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"sea"}' } };

const chat: readonly object[] = [
  routes.chat.body('Say hello', MINI),
  routes.chat.body('Say hello', { ...MINI, stream: true, stream_options: { include_usage: true } }),
  routes.chat.body('Say hello', {
    ...{
      ...MINI,
      temperature: 0.5,
      top_p: 0.9,
      n: 2,
      stop: ['a', 'b'],
      presence_penalty: 0.5,
      frequency_penalty: -0.5,
    },
    ...{ seed: 7, user: 'someone', logit_bias: { '50256': -100 }, logprobs: true, top_logprobs: 2 },
    ...{ metadata: { a: 'b' }, prompt_cache_key: 'k', safety_identifier: 's', modalities: ['text'] },
    ...{ service_tier: 'auto', store: false },
  }),
  routes.chat.body('', {
    ...MINI,
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}`, detail: 'low' } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'blue' },
    ],
    tools: [{ type: 'function', function: { name: 'look', description: 'looks', parameters: schema } }],
    ...{ tool_choice: { type: 'function', function: { name: 'look' } }, parallel_tool_calls: false },
  }),
  routes.chat.body('', {
    messages: [
      { role: 'user', content: 'Say hello', name: 'ann' },
      { role: 'developer', content: 'JSON' },
    ],
    ...{ verbosity: 'low', reasoning_effort: 'low' },
    response_format: { type: 'json_schema', json_schema: { name: 'it', strict: true, schema } },
  }),
];

const functionTool = { type: 'function', name: 'look', description: 'looks', parameters: schema, strict: true };
const functionCall = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":"sea"}', id: 'fc_1' };

const responses: readonly object[] = [
  routes.responses.body('Say hello'),
  routes.responses.body('Say hello', {
    ...{ stream: true, stream_options: { include_obfuscation: false }, instructions: 'Be brief', metadata: { a: 'b' } },
    ...{ reasoning: { effort: 'high', summary: 'auto' }, text: { format: { type: 'text' }, verbosity: 'low' } },
    ...{ user: 'someone', safety_identifier: 's', prompt_cache_key: 'k', truncation: 'disabled', store: false },
    ...{ previous_response_id: null, conversation: null, service_tier: 'auto' },
  }),
  routes.responses.body('', {
    input: [
      { role: 'developer', content: 'Be brief' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Look' }] },
      functionCall,
      { type: 'function_call_output', call_id: 'call_1', output: 'blue' },
      { role: 'user', content: [{ type: 'input_text', text: 'And now?' }] },
    ],
    ...{ tools: [functionTool], tool_choice: 'auto', parallel_tool_calls: true, temperature: 1, top_p: 1 },
  }),
  routes.responses.body('', {
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is it?' },
          { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'low' },
        ],
      },
    ],
    include: ['reasoning.encrypted_content'],
    text: { format: { type: 'json_schema', name: 'it', schema, strict: true } },
  }),
];

const claudeTool = { name: 'look', description: 'looks', input_schema: schema, cache_control: { type: 'ephemeral' } };
const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'sea' } };
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } };

/** Prompts of this format. */
const prompts: readonly object[] = [
  {},
  {
    system: [{ type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral', ttl: '5m' } }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Look' }, image] },
      { role: 'assistant', content: [{ type: 'text', text: 'I do' }, toolUse] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'blue' }] }],
      },
    ],
    ...{ tools: [claudeTool], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  },
];
const claudePrompts = (route: routes.PostRoute): readonly object[] =>
  prompts.map((members) => route.body('Say hello', members));

const messages: readonly object[] = [
  ...claudePrompts(routes.messages),
  routes.messages.body('Say hello', {
    ...{ stream: true, max_tokens: 3_000, thinking: { type: 'enabled', budget_tokens: 1_024 } },
    ...{ stop_sequences: ['a', 'b'], metadata: { user_id: 'someone' }, service_tier: 'auto' },
  }),
  routes.messages.body('Say hello', { temperature: 0.5, top_k: 5, system: 'Be brief', inference_geo: null }),
  routes.messages.body('Say hello', {
    ...{ model: 'claude-haiku-5-5', max_tokens: 900, thinking: { type: 'adaptive', display: 'omitted' } },
    output_config: { effort: 'low', format: { type: 'json_schema', schema } },
  }),
];

const declarations = [
  { name: 'look', description: 'looks', parameters: { type: 'OBJECT', properties: { at: { type: 'STRING' } } } },
];
const toolTurns = [
  { role: 'user', parts: [{ text: 'Look' }] },
  { role: 'model', parts: [{ functionCall: { name: 'look', args: { at: 'sea' } }, thoughtSignature: 'c2ln' }] },
  { role: 'user', parts: [{ functionResponse: { name: 'look', response: { seen: 'blue' } } }] },
  { role: 'model', parts: [{ text: 'It is blue', thought: false }] },
  { role: 'user', parts: [{ text: 'And now?' }] },
];

const contents = (route: routes.PostRoute): readonly object[] => [
  route.body('Say hello'),
  route.body('Say hello', {
    systemInstruction: { parts: [{ text: 'Be brief' }] },
    generationConfig: {
      ...{
        temperature: 0.5,
        topP: 0.9,
        topK: 5,
        candidateCount: 1,
        maxOutputTokens: 400,
        stopSequences: ['a'],
        seed: 7,
      },
      ...{
        responseMimeType: 'application/json',
        responseSchema: { type: 'OBJECT', properties: { at: { type: 'STRING' } } },
      },
      thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true },
    },
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_ONLY_HIGH' }],
    ...{ model: `models/${routes.GEMINI}`, labels: { a: 'b' }, store: false },
  }),
  route.body('', {
    contents: toolTurns,
    tools: [{ function_declarations: declarations }],
    tool_config: { function_calling_config: { mode: 'AUTO' } },
  }),
  {
    contents: {
      role: 'user',
      parts: [{ text: 'What is it?' }, { inline_data: { mime_type: 'image/png', data: PNG } }],
    },
    generation_config: { max_output_tokens: 200, media_resolution: 'MEDIA_RESOLUTION_LOW' },
  },
];

const countContents: readonly object[] = [
  routes.countContent.body('Say hello'),
  {
    generateContentRequest: {
      ...{ contents: toolTurns, tools: [{ functionDeclarations: declarations }] },
      ...{ systemInstruction: { parts: { text: 'Be brief' } }, generationConfig: { temperature: 0.5 } },
    },
  },
];

const embeddings: readonly object[] = [
  routes.embeddings.body('hello', { encoding_format: 'base64', dimensions: 8, user: 'someone' }),
  routes.embeddings.body('', { input: ['a', 'b'], dimensions: 4 }),
  routes.embeddings.body('', { input: [1, 2, 3], dimensions: 4 }),
  routes.embeddings.body('', { input: [[1, 2], [3]], dimensions: 4, encoding_format: 'float' }),
];

const moderations: readonly object[] = [
  routes.moderations.body('hello'),
  routes.moderations.body('', { input: ['a', 'b'] }),
  routes.moderations.body('', { input: [{ type: 'text', text: 'a' }] }),
];

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const images: readonly object[] = [
  routes.images.body('hello', { n: 2, response_format: 'b64_json', user: 'someone', output_format: 'png' }),
  routes.images.body('hello', { model: 'gpt-image-2', size: '1024x1024', quality: 'low' }),
  routes.images.body('hello', { model: 'flux-2-pro', width: 512, height: 512, input_image: pixel, seed: 1 }),
  routes.images.body('hello', { model: 'seedream-4-0', size: '1280x720', image: ['https://example.com/a.png'] }),
];

const speech: readonly object[] = [
  routes.speech.body('hello', { response_format: 'mp3', speed: 1.5 }),
  routes.speech.body('hello', { model: 'tts-1-hd', response_format: 'pcm' }),
];

export const fuzzed: readonly Fuzzed[] = [
  { route: routes.chat, bodies: chat },
  { route: routes.responses, bodies: responses },
  { route: routes.messages, bodies: messages },
  { route: routes.countTokens, bodies: claudePrompts(routes.countTokens) },
  { route: routes.generateContent, bodies: contents(routes.generateContent) },
  { route: routes.streamAsEvents, bodies: contents(routes.streamAsEvents) },
  { route: routes.streamAsArray, bodies: contents(routes.streamAsArray) },
  { route: routes.countContent, bodies: countContents },
  { route: routes.embeddings, bodies: embeddings },
  { route: routes.moderations, bodies: moderations },
  { route: routes.images, bodies: images },
  { route: routes.speech, bodies: speech },
];
