import type { TextFace } from '../text-face.ts';
import { toTextOrder } from './request.ts';
import { toChatCompletion } from './response.ts';
import { chatStream } from './stream.ts';

/** POST /v1/chat/completions. */
export const chatCompletions: TextFace = {
  protocol: 'chat_completions',
  headers: { takesKeys: true, takesFallback: true },
  toOrder: ({ body }, alternatives) => toTextOrder(body.json, body.bytes, alternatives),
  toBody: (answer, context) => JSON.stringify(toChatCompletion(answer, context)),
  toStream: chatStream,
};
