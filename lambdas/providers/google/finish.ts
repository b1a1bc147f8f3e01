import type { FinishReason } from '../../core/text/text-wire.ts';
import { filtered } from '../refusals.ts';
import { brokenOff } from './errors.ts';

/** https://ai.google.dev/api/generate-content#FinishReason. What the client has to word differently counts as filtered. */
const filters: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
]);

/** `CONTINUATION`: the vendor's own limit for one request; no client of another protocol could ask for the rest. */
const lengths: ReadonlySet<string> = new Set(['MAX_TOKENS', 'CONTINUATION']);

export const refuseBlocked = (reason: string): void => {
  if (filters.has(reason)) throw filtered();
};

/** `NO_IMAGE`: a model that draws has answered in words alone. */
const complete: ReadonlySet<string> = new Set(['STOP', 'NO_IMAGE']);

/** What an answer has said by its end. */
export interface Said {
  readonly calls: boolean;
  readonly text: boolean;
}

/**
 * CHAT-14: throws for an answer that was blocked. One that broke off for another reason, such as a call that could not be read, is
 * an error only if it has said nothing: what it has said is the client's and is charged, and is told to be incomplete.
 */
export const toFinishReason = (reason: string, { calls, text }: Said): FinishReason => {
  refuseBlocked(reason);
  if (lengths.has(reason)) return 'length';
  if (reason !== 'STOP' && !calls && !text) throw brokenOff(reason);
  if (!complete.has(reason)) return 'length';
  return calls ? 'tool_calls' : 'stop';
};
