import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { TokenUsage } from '../../../../lambdas/core/pricing/charge.ts';
import type { TextDelta, WireEvent } from '../../../../lambdas/core/text/text-wire.ts';
import { chatNames, nativeNames } from '../../../../lambdas/providers/openai/errors.ts';
import { nativeReader, neutralReader } from '../../../../lambdas/providers/openai/responses-stream.ts';
import { readStream } from '../../../../lambdas/providers/read-stream.ts';
import { fixture } from './stream-reading.ts';

export const OUR_MODEL = 'gateway-model';
export const THEIR_MODEL = 'gpt-6.2-sol-2026-11-17';

export const streams = [
  'responses-stream.sse',
  'responses-stream-tools.sse',
  'responses-stream-refusal.sse',
  'responses-stream-incomplete.sse',
] as const;

/** Events of a fixture, each with its name and its blank line. */
export const framesIn = (name: (typeof streams)[number]): string[] =>
  fixture(name)
    .split('\n\n')
    .filter((frame) => frame.startsWith('event: '))
    .map((frame) => `${frame}\n\n`);

export const frameOf = (event: { readonly type: string; readonly [name: string]: unknown }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Last event of the first fixture, with other members in its response. */
export const lastOf = (changes: object, type = 'response.completed'): string => {
  const { sequence_number, response } = JSON.parse(framesIn('responses-stream.sse').at(-1)?.split('data: ')[1] ?? '');
  return frameOf({ type, sequence_number, response: { ...response, ...changes } });
};

/** Replaces the model of the response, which is the only change that an event can show. */
export const withOurs = (frame: string): string => frame.replace(`"model":"${THEIR_MODEL}"`, `"model":"${OUR_MODEL}"`);

interface ResponsesReading {
  readonly events: readonly string[];
  /** Number of wire events that were marked as announcements. */
  readonly opening: number;
  readonly deltas: readonly TextDelta[];
  readonly end: Extract<WireEvent, { kind: 'end' }> | undefined;
  readonly error: { readonly code: string; readonly param: string | null; readonly message: string } | undefined;
  readonly notices: readonly string[];
  readonly usageSoFar: TokenUsage | undefined;
}

export type Side = 'native' | 'neutral';

/** Reads a stream to its end, successful or not. */
export const readResponses = async (side: Side, body: AsyncIterable<Uint8Array>): Promise<ResponsesReading> => {
  const events: string[] = [];
  const deltas: TextDelta[] = [];
  const notices: string[] = [];
  let opening = 0;
  let end: ResponsesReading['end'];
  let error: ResponsesReading['error'];
  const refusalContext = {
    retryAfterSeconds: 7,
    secret: 'sk-vendor-canary',
    notice: (notice: string) => void notices.push(notice),
  };
  const reader =
    side === 'native'
      ? nativeReader({ refusalContext, names: nativeNames }, OUR_MODEL)
      : neutralReader({ refusalContext, names: chatNames(['messages[0]', 'messages[2]']) });
  try {
    for await (const event of readStream(body, reader)) {
      if (end) throw new Error('an event after the end');
      if (event.kind === 'end') end = event;
      else if (event.kind === 'native') events.push(...event.events);
      else deltas.push(...event.deltas);
      if (event.kind !== 'end' && event.announcement) opening += 1;
    }
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    error = { code: thrown.code, param: thrown.param, message: thrown.message };
  }
  return { events, opening, deltas, end, error, notices, usageSoFar: reader.usageSoFar };
};
