/**
 * One conversation in each provider's protocol: the body of a native client, and the expected body of a forwarded chat.
 */

export const CAP = 2_000;

const schema = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
const description = 'Returns the weather.';

export const cities = [
  { id: 'call_oslo', city: 'Oslo', result: 'rain' },
  { id: 'call_rome', city: 'Rome', result: 'sun' },
] as const;

const argumentsFor = (city: string): string => JSON.stringify({ city });

/** Tool calls of the provider's response, in the format of the package. */
export const bothCalls = cities.map(({ id, city }) => ({ name: 'weather', arguments: argumentsFor(city), id }));

/** Body with the question only, or with both calls and their results. */
export type Body = (model: string, answered: boolean) => object;

export const chatBody = (model: string, answered: boolean) => ({
  model,
  messages: [
    { role: 'system' as const, content: 'Be brief.' },
    { role: 'user' as const, content: 'Weather?' },
    ...(answered
      ? [
          {
            role: 'assistant' as const,
            content: null,
            tool_calls: bothCalls.map(({ id, ...call }) => ({ id, type: 'function' as const, function: call })),
          },
          ...cities.map(({ id, result }) => ({ role: 'tool' as const, tool_call_id: id, content: result })),
        ]
      : []),
  ],
  tools: [{ type: 'function' as const, function: { name: 'weather', description, parameters: schema } }],
  max_completion_tokens: CAP,
});

export const responsesBody = (model: string, answered: boolean) => ({
  model,
  input: [
    { role: 'developer' as const, content: 'Be brief.' },
    { role: 'user' as const, content: [{ type: 'input_text' as const, text: 'Weather?' }] },
    ...(answered
      ? [
          ...bothCalls.map(({ id, ...call }) => ({ type: 'function_call' as const, call_id: id, ...call })),
          ...cities.map(({ id, result }) => ({ type: 'function_call_output' as const, call_id: id, output: result })),
        ]
      : []),
  ],
  tools: [{ type: 'function' as const, name: 'weather', description, parameters: schema, strict: false }],
  reasoning: { effort: 'high' as const },
  max_output_tokens: CAP,
});

export const messagesBody = (model: string, answered: boolean) => ({
  model,
  max_tokens: CAP,
  system: 'Be brief.',
  messages: [
    { role: 'user' as const, content: [{ type: 'text' as const, text: 'Weather?' }] },
    ...(answered
      ? [
          {
            role: 'assistant' as const,
            content: cities.map(({ id, city }) => ({
              type: 'tool_use' as const,
              id,
              name: 'weather',
              input: { city },
            })),
          },
          {
            role: 'user' as const,
            content: cities.map(({ id, result }) => ({
              type: 'tool_result' as const,
              tool_use_id: id,
              content: result,
            })),
          },
        ]
      : []),
  ],
  tools: [{ name: 'weather', description, input_schema: schema }],
});

/** Gemini contents. Earlier calls have the provider's signature, or the documented replacement for a lost one. */
export const contentsBody = (answered: boolean) => ({
  contents: [
    { role: 'user', parts: [{ text: 'Weather?' }] },
    ...(answered
      ? [
          {
            role: 'model',
            parts: cities.map(({ id, city }, index) => ({
              functionCall: { id, name: 'weather', args: { city } },
              ...(index === 0 ? { thoughtSignature: 'skip_thought_signature_validator' } : {}),
            })),
          },
          {
            role: 'user',
            parts: cities.map(({ id, result }) => ({
              functionResponse: { id, name: 'weather', response: { result } },
            })),
          },
        ]
      : []),
  ],
  systemInstruction: { parts: [{ text: 'Be brief.' }] },
  tools: [{ functionDeclarations: [{ name: 'weather', description, parametersJsonSchema: schema }] }],
  generationConfig: { maxOutputTokens: CAP },
});
