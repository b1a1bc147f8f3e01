import { readFileSync } from 'node:fs';
import type { TokenUsage } from '../../../../lambdas/core/pricing/charge.ts';
import type { Ending, TextDelta } from '../../../../lambdas/core/text/text-wire.ts';
import { nativeReader, neutralReader } from '../../../../lambdas/providers/google/stream.ts';
import { readStream } from '../../../../lambdas/providers/read-stream.ts';

export { codeOf, cutAfter, inPieces } from '../played-vendor.ts';

export const fixture = (name: string): string =>
  readFileSync(new URL(`../../../fixtures/google/${name}.sse`, import.meta.url), 'utf8');

/** The `data` of every event of a fixture, which has one line per event. */
export const eventsIn = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice(6));

/** Events in the provider's form. */
export const toSse = (events: readonly string[]): string => events.map((data) => `data: ${data}\r\n\r\n`).join('');

export interface Reading {
  readonly native: readonly string[];
  readonly deltas: readonly TextDelta[];
  /** Number of events that only announced the response. */
  readonly openings: number;
  readonly end: { readonly ending: Ending; readonly usage: TokenUsage | undefined } | undefined;
  readonly error: unknown;
  readonly notices: readonly string[];
  readonly usageSoFar: TokenUsage | undefined;
}

type Protocol = 'generate_content' | 'chat_completions';

/** Reads a stream to its end, successful or not. */
export const readAll = async (body: AsyncIterable<Uint8Array>, protocol: Protocol, choices = 1): Promise<Reading> => {
  const native: string[] = [];
  const deltas: TextDelta[] = [];
  const notices: string[] = [];
  let openings = 0;
  let end: Reading['end'];
  const inBand = {
    refusalContext: {
      retryAfterSeconds: 7,
      secret: 'sk-vendor-canary',
      notice: (notice: string) => void notices.push(notice),
    },
    protocol,
  };
  const reader = protocol === 'generate_content' ? nativeReader(choices, inBand) : neutralReader(inBand);
  const reading = (error: unknown): Reading => {
    const { usageSoFar } = reader;
    return { native, deltas, openings, end, error, notices, usageSoFar };
  };
  try {
    for await (const event of readStream(body, reader)) {
      if (end) throw new Error('an event after the end');
      if (event.kind === 'end') end = { ending: event.ending, usage: event.usage };
      else if (event.kind === 'native') native.push(...event.events);
      else deltas.push(...event.deltas);
      if (event.kind !== 'end' && event.announcement) openings += 1;
    }
  } catch (error) {
    return reading(error);
  }
  return reading(undefined);
};

export const textIn = (deltas: readonly TextDelta[]): string =>
  deltas.map((delta) => (delta.kind === 'text' ? delta.text : '')).join('');
