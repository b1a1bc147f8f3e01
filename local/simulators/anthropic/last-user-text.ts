import { isRecord } from '../json-sample.ts';

/** Returns the text of the last user message that has text. A message of tool results belongs to the text before it. */
export function lastUserText(body: unknown): string {
  if (!isRecord(body) || !Array.isArray(body.messages)) return '';
  return body.messages.map(userText).findLast((text) => text !== '') ?? '';
}

function userText(message: unknown): string {
  if (!isRecord(message) || message.role !== 'user') return '';
  if (typeof message.content === 'string') return message.content;
  if (!Array.isArray(message.content)) return '';
  return message.content.map(blockText).filter(Boolean).join('\n');
}

function blockText(block: unknown): string {
  return isRecord(block) && block.type === 'text' && typeof block.text === 'string' ? block.text : '';
}

export function modelOf(body: unknown): string {
  return isRecord(body) && typeof body.model === 'string' ? body.model : '';
}
