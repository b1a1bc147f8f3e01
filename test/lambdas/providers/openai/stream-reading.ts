import { readFileSync } from 'node:fs';
import type { TokenUsage } from '../../../../lambdas/core/pricing/charge.ts';
import type { Ending, WireEvent } from '../../../../lambdas/core/text/text-wire.ts';
import { type ChatStreamOptions, chatReader } from '../../../../lambdas/providers/openai/chat-wire.ts';
import { readStream } from '../../../../lambdas/providers/read-stream.ts';

export { codeOf, cutAfter, inPieces } from '../played-vendor.ts';

export const OUR_MODEL = 'gateway-model';

export const fixture = (name: string): string =>
  readFileSync(new URL(`../../../fixtures/openai/${name}`, import.meta.url), 'utf8');

/** The `data` of every event of a fixture, which has one line per event and only line feeds. */
export const eventsIn = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice(6));

export const toSse = (events: readonly string[]): string => events.map((data) => `data: ${data}\n\n`).join('');

/** Replaces the model, which is the only change that an event can show. */
export const withOurModel = (data: string, theirs: string): string =>
  data.replace(/"model"(: ?)"([^"\\]*)"/, (all, colon, name) =>
    name === theirs ? `"model"${colon}"${OUR_MODEL}"` : all,
  );

type EndEvent = Extract<WireEvent, { kind: 'end' }>;

export interface Reading {
  readonly raw: readonly string[];
  readonly end: (Extract<Ending, { kind: 'deferred' }> & Pick<EndEvent, 'usage'>) | undefined;
  readonly error: unknown;
  readonly notices: readonly string[];
  readonly usageSoFar: TokenUsage | undefined;
}

export const options = (changes: Partial<ChatStreamOptions> = {}, notices: string[] = []): ChatStreamOptions => ({
  modelId: OUR_MODEL,
  choices: 1,
  refusalContext: { retryAfterSeconds: 7, secret: 'sk-vendor-canary', notice: (notice) => notices.push(notice) },
  ...changes,
});

const heldBy = ({ ending }: EndEvent) => {
  if (ending.kind !== 'deferred') throw new Error('an ending of another protocol');
  return ending;
};

/** Reads a stream to its end, successful or not. */
export const readAll = async (
  body: AsyncIterable<Uint8Array>,
  changes: Partial<ChatStreamOptions> = {},
): Promise<Reading> => {
  const raw: string[] = [];
  const notices: string[] = [];
  let end: Reading['end'];
  const reader = chatReader(options(changes, notices));
  try {
    for await (const event of readStream(body, reader)) {
      if (end) throw new Error('an event after the end');
      if (event.kind === 'end') end = { ...heldBy(event), usage: event.usage };
      else if (event.kind === 'native') raw.push(...event.events);
      else throw new Error('an event of another protocol');
    }
  } catch (error) {
    return { raw, end, error, notices, usageSoFar: reader.usageSoFar };
  }
  return { raw, end, error: undefined, notices, usageSoFar: reader.usageSoFar };
};
