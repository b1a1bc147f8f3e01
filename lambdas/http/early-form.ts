import type { AnswerBy } from '../core/paid-call/dependencies.ts';
import { formatOf } from './client-format.ts';
import { type Exchange, json, type Opening } from './exchange.ts';
import { toErrorBody } from './render-error.ts';

/** Before the door gives up: when an answer must have failed that cannot be begun, so that its status still arrives. */
const REFUSED_BEFORE_MS = 10_000;
/** The same for bytes and bare text, which have no place for a keep-alive at any time: all of it must be there (LIM-6). */
const BYTES_BEFORE_MS = 15_000;

/** What an answer looks like on the wire, as far as that decides whether it can be begun before it is known. */
export type AnswerForm =
  | { readonly kind: 'stream'; readonly opening: Opening }
  | { readonly kind: 'json' }
  | { readonly kind: 'bytes' };

/**
 * Where something before this program gives up on silence: notes how the answer is begun in time, or answers by when it has to be
 * there, which is for the use case. To be called before the handler first waits.
 */
export const planAnswer = (exchange: Exchange, form: AnswerForm): AnswerBy | undefined => {
  const { patience, cameWholeAtMs } = exchange;
  if (!patience) return undefined;
  const by = (beforeMs: number): number => cameWholeAtMs + patience.silenceMs - beforeMs;
  switch (form.kind) {
    case 'bytes':
      return { atMs: by(BYTES_BEFORE_MS), covers: 'all' };
    case 'stream':
      if (!patience.commitsStreams) return { atMs: by(REFUSED_BEFORE_MS), covers: 'beginning' };
      exchange.opening = form.opening;
      return undefined;
    case 'json':
      if (!patience.commitsJson) return { atMs: by(REFUSED_BEFORE_MS), covers: 'all' };
      exchange.opening = jsonOpening(exchange);
      return undefined;
  }
};

/** ERR-6: no parser takes JSON with this behind it, so no client takes a failure for an answer. */
const NOT_JSON = '!';

const jsonOpening = ({ event, requestId }: Exchange): Opening => ({
  headers: json(200, {}).headers,
  keepAlive: ' ',
  failure: (error) => {
    const body = toErrorBody(error, formatOf(event.rawPath, event.headers), requestId);
    return JSON.stringify(body) + NOT_JSON;
  },
  // A refusal may have been stored by another request, and found when this answer had begun.
  rest: (status, body) => (status < 400 ? body : body + NOT_JSON),
});
