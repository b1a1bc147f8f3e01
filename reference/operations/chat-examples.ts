import type { Example } from '../operation.ts';

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather in a town',
    parameters: { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] },
  },
};

/** PNG image of one pixel. */
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const chatExamples: Record<string, Example> = {
  plain: {
    summary: 'A question',
    value: {
      model: 'gpt-4.1-mini',
      messages: [
        { role: 'system', content: 'You answer in one sentence.' },
        { role: 'user', content: 'Why is the evening sky red?' },
      ],
      max_tokens: 100,
    },
  },
  stream: {
    summary: 'The same question as a stream',
    value: {
      model: 'gpt-4.1-mini',
      messages: [{ role: 'user', content: 'Why is the evening sky red?' }],
      max_tokens: 100,
      stream: true,
    },
  },
  tools: {
    summary: 'A function call',
    value: {
      model: 'gpt-4.1-mini',
      messages: [{ role: 'user', content: 'What is the weather in Riga?' }],
      tools: [weather],
      max_tokens: 200,
    },
  },
  image: {
    summary: 'A question about an image',
    value: {
      model: 'gpt-4.1-mini',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What does the image show?' },
            { type: 'image_url', image_url: { url: PIXEL } },
          ],
        },
      ],
      max_tokens: 100,
    },
  },
  schema: {
    summary: 'A JSON output',
    value: {
      model: 'gpt-4.1-mini',
      messages: [{ role: 'user', content: 'Name a town and its country.' }],
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'town',
          strict: true,
          schema: {
            type: 'object',
            properties: { town: { type: 'string' }, country: { type: 'string' } },
            required: ['town', 'country'],
            additionalProperties: false,
          },
        },
      },
      max_tokens: 100,
    },
  },
};
