import { signatureOf } from '../../../local/simulators/anthropic/signature.ts';
import { newThoughtSignature } from '../../../local/simulators/google/function-turns.ts';
import { pictureOf } from '../../../local/simulators/picture.ts';

export type Json = Readonly<Record<string, unknown>>;

/** Creates a canary for a place of the request. */
export type Mark = (place: string) => string;

const schema = (description: string) => ({
  type: 'object',
  properties: { city: { type: 'string', description } },
  required: ['city'],
  additionalProperties: false,
});

/** Image with a canary after its end, which decoders ignore. */
const picture = (canary: string, [width, height]: readonly [width: number, height: number] = [64, 64]): Buffer =>
  Buffer.concat([pictureOf({ width, height, about: canary }), Buffer.from(canary)]);
export const dataUri = (canary: string): string => `data:image/png;base64,${picture(canary).toString('base64')}`;
export const pictureFile = (canary: string, name: string, size?: readonly [width: number, height: number]): File =>
  new File([Uint8Array.from(picture(canary, size))], `${name}.png`);

export const chatBody = (mark: Mark, ask: string): Json => ({
  ...{ model: 'gpt-4.1-mini', max_tokens: 60, user: mark('user'), stop: [mark('stop')] },
  ...{ metadata: { about: mark('metadata') }, prompt_cache_key: mark('prompt_cache_key') },
  safety_identifier: mark('safety_identifier'),
  messages: [
    { role: 'system', content: mark('system message') },
    { role: 'user', content: mark('earlier user message'), name: 'somebody' },
    {
      ...{ role: 'assistant', content: mark('assistant message') },
      tool_calls: [
        {
          ...{ id: 'call_1', type: 'function' },
          function: { name: 'look', arguments: JSON.stringify({ city: mark('tool call arguments') }) },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: mark('tool message') },
    {
      role: 'user',
      content: [
        { type: 'text', text: `${mark('user message')} ${ask}` },
        { type: 'image_url', image_url: { url: dataUri(mark('image data URI')) } },
      ],
    },
  ],
  tool_choice: 'none',
  tools: [
    {
      type: 'function',
      function: { name: 'look', description: mark('tool description'), parameters: schema(mark('tool parameters')) },
    },
  ],
});

export const responsesBody = (mark: Mark, ask: string): Json => ({
  ...{ model: 'gpt-5.5-pro', max_output_tokens: 400, user: mark('user'), instructions: mark('instructions') },
  ...{ metadata: { about: mark('metadata') }, prompt_cache_key: mark('prompt_cache_key') },
  input: [
    { role: 'developer', content: mark('developer message') },
    {
      type: 'function_call',
      call_id: 'c1',
      id: 'fc_1',
      name: 'look',
      arguments: JSON.stringify({ city: mark('call') }),
    },
    { type: 'function_call_output', call_id: 'c1', output: mark('call output') },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: `${mark('input')} ${ask}` },
        { type: 'input_image', image_url: dataUri(mark('input_image')), detail: 'low' },
      ],
    },
  ],
  ...{ tool_choice: 'none', store: false },
  tools: [
    { type: 'function', name: 'look', description: mark('tool description'), parameters: schema(mark('parameters')) },
  ],
});

const thought = (text: string) => ({ type: 'thinking', thinking: text, signature: signatureOf(text) });

export const promptOfMessages = (mark: Mark, ask: string): Json => ({
  model: 'claude-haiku-4-5',
  system: [{ type: 'text', text: mark('system block') }],
  messages: [
    { role: 'user', content: mark('earlier user message') },
    {
      role: 'assistant',
      content: [
        thought(mark('thinking block')),
        { type: 'text', text: mark('assistant text') },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: { city: mark('tool_use input') } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: mark('tool_result') }] },
        { type: 'text', text: `${mark('user text')} ${ask}` },
        {
          type: 'image',
          source: { type: 'base64', media_type: 'image/png', data: picture(mark('image block')).toString('base64') },
        },
      ],
    },
  ],
  tools: [{ name: 'look', description: mark('tool description'), input_schema: schema(mark('input_schema')) }],
});

export const messagesBody = (mark: Mark, ask: string): Json => ({
  ...promptOfMessages(mark, ask),
  ...{ max_tokens: 2_000, thinking: { type: 'enabled', budget_tokens: 1_024 } },
  ...{ metadata: { user_id: mark('metadata.user_id') }, stop_sequences: [mark('stop_sequences')] },
});

export const contentsOf = (mark: Mark, ask: string): Json => ({
  contents: [
    { role: 'user', parts: [{ text: mark('earlier part') }] },
    {
      role: 'model',
      parts: [
        {
          functionCall: { name: 'look', args: { city: mark('functionCall args') } },
          thoughtSignature: newThoughtSignature(),
        },
      ],
    },
    {
      role: 'user',
      parts: [{ functionResponse: { name: 'look', response: { output: mark('functionResponse') } } }],
    },
    { role: 'model', parts: [{ text: mark('model part') }] },
    {
      role: 'user',
      parts: [
        { text: `${mark('text part')} ${ask}` },
        { inlineData: { mimeType: 'image/png', data: picture(mark('inlineData')).toString('base64') } },
      ],
    },
  ],
});

export const generateBody = (mark: Mark, ask: string): Json => ({
  ...contentsOf(mark, ask),
  systemInstruction: { parts: [{ text: mark('systemInstruction') }] },
  tools: [
    {
      functionDeclarations: [
        { name: 'look', description: mark('declaration'), parametersJsonSchema: schema(mark('parametersJsonSchema')) },
      ],
    },
  ],
  generationConfig: { maxOutputTokens: 400, stopSequences: [mark('stopSequences')] },
});
