/** Returns streams of many small events in each provider's format. */

const events = (word: string, count: number, toEvent: (word: string) => string): string =>
  Array.from({ length: count }, () => toEvent(word)).join('');

const named = (type: string, rest: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;

export const chatSample = (word: string, count: number): string => {
  const shared = {
    id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
    object: 'chat.completion.chunk',
    created: 1741569952,
    model: 'gpt-4.1-mini-2025-04-14',
    service_tier: 'default',
    system_fingerprint: 'fp_b376dfbbd5',
  };
  const chunk = (delta: object, finish_reason: string | null = null): string => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
    return `data: ${JSON.stringify({ ...shared, choices, usage: null, obfuscation: 'zJ1Q' })}\n\n`;
  };
  const usage = { prompt_tokens: 9, completion_tokens: count, total_tokens: count + 9 };
  return [
    chunk({ role: 'assistant', content: '' }),
    events(word, count, (content) => chunk({ content })),
    chunk({}, 'stop'),
    `data: ${JSON.stringify({ ...shared, choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  ].join('');
};

export const messagesSample = (word: string, count: number): string => {
  const usage = { input_tokens: 9, output_tokens: 1 };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-4-5-20251001',
    content: [],
    usage,
  };
  return [
    named('message_start', { message: { ...message, stop_reason: null, stop_sequence: null } }),
    named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    events(word, count, (text) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
    named('content_block_stop', { index: 0 }),
    named('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: count },
    }),
    named('message_stop', {}),
  ].join('');
};

export const responsesSample = (word: string, count: number): string => {
  const response = {
    id: 'resp_1',
    object: 'response',
    model: 'gpt-5.5-pro-2026-04-23',
    status: 'in_progress',
    output: [],
  };
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
  const usage = { input_tokens: 9, output_tokens: count, total_tokens: count + 9 };
  return [
    named('response.created', { sequence_number: 0, response }),
    named('response.output_item.added', { sequence_number: 1, output_index: 0, item }),
    events(word, count, (delta) =>
      named('response.output_text.delta', { sequence_number: 4, ...at, delta, logprobs: [], obfuscation: 'zJ1Q' }),
    ),
    named('response.completed', { sequence_number: 9, response: { ...response, status: 'completed', usage } }),
  ].join('');
};

export const contentSample = (word: string, count: number): string => {
  const chunk = (text: string, finishReason?: string): string => {
    const candidates = [
      { content: { parts: [{ text }], role: 'model' }, index: 0, ...(finishReason && { finishReason }) },
    ];
    const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: count, totalTokenCount: count + 9 };
    const data = { candidates, usageMetadata, modelVersion: 'gemini-3.5-flash-lite', responseId: 'r1' };
    return `data: ${JSON.stringify(data)}\r\n\r\n`;
  };
  return events(word, count, chunk) + chunk(word, 'STOP');
};
