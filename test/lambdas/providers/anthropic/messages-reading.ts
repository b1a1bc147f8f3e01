import { readFileSync } from 'node:fs';
import type { TokenUsage } from '../../../../lambdas/core/pricing/charge.ts';
import type { TextDelta, WireEvent } from '../../../../lambdas/core/text/text-wire.ts';
import { ownParam } from '../../../../lambdas/providers/anthropic/errors.ts';
import { nativeReader, neutralReader } from '../../../../lambdas/providers/anthropic/stream.ts';
import { readStream } from '../../../../lambdas/providers/read-stream.ts';

export { codeOf, cutAfter, inPieces } from '../played-vendor.ts';

export const OUR_MODEL = 'gateway-model';
export const THEIR_MODEL = 'claude-vendor-20260101';
export const MESSAGE_STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

/** Streams that end successfully, in the provider's protocol. */
export const wholeFixtures = [
  'basic.sse',
  'tool-use.sse',
  'parallel-tools.sse',
  'thinking.sse',
  'refusal.sse',
  'refusal-at-once.sse',
  'cache-usage.sse',
  'empty-input-tool.sse',
] as const;

/** Fixture without the comment that names its source. */
export const fixture = (name: string): string => {
  const text = readFileSync(new URL(`../../../fixtures/anthropic/${name}`, import.meta.url), 'utf8');
  return text.slice(text.indexOf('event: '));
};

export const framesIn = (text: string): string[] =>
  text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => `${frame}\n\n`);

export const event = (data: { readonly type: string; readonly [name: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

export interface Reading {
  readonly native: readonly string[];
  readonly deltas: readonly TextDelta[];
  readonly openings: number;
  /** Whether an announcement came after an event that is not an announcement. */
  readonly lateOpening: boolean;
  readonly end: Extract<WireEvent, { kind: 'end' }> | undefined;
  readonly error: unknown;
  readonly notices: readonly string[];
  readonly usageSoFar: TokenUsage | undefined;
}

/** Reads a stream to its end, successful or not. */
const readAll = async (
  body: AsyncIterable<Uint8Array>,
  toReader: (refusalContext: Parameters<typeof nativeReader>[0]['refusalContext']) => ReturnType<typeof nativeReader>,
): Promise<Reading> => {
  const native: string[] = [];
  const deltas: TextDelta[] = [];
  const notices: string[] = [];
  let openings = 0;
  let others = 0;
  let lateOpening = false;
  let end: Reading['end'];
  let error: unknown;
  const refusalContext = {
    retryAfterSeconds: 7,
    secret: 'sk-vendor-canary',
    notice: (notice: string) => void notices.push(notice),
  };
  const reader = toReader(refusalContext);
  try {
    for await (const found of readStream(body, reader)) {
      if (end) throw new Error('an event after the end');
      if (found.kind === 'end') {
        end = found;
        continue;
      }
      if (found.announcement) openings += 1;
      else others += 1;
      lateOpening ||= found.announcement === true && others > 0;
      if (found.kind === 'native') native.push(...found.events);
      else deltas.push(...found.deltas);
    }
  } catch (thrown) {
    error = thrown;
  }
  return { native, deltas, openings, lateOpening, end, error, notices, usageSoFar: reader.usageSoFar };
};

export const readNative = (body: AsyncIterable<Uint8Array>, modelId = OUR_MODEL): Promise<Reading> =>
  readAll(body, (refusalContext) => nativeReader({ modelId, refusalContext }));

export const readNeutral = (body: AsyncIterable<Uint8Array>): Promise<Reading> =>
  readAll(body, (refusalContext) => neutralReader({ toParam: ownParam, refusalContext }));

/** Everything that a client of the same protocol gets of a successful stream. */
export const sentOf = ({ native, end }: Reading): string => {
  if (end?.ending.kind !== 'native') throw new Error('no native ending');
  return [...native, ...end.ending.events].join('');
};

/** Merges adjacent fragments, because their number depends on how the network splits the stream. */
export const joined = (deltas: readonly TextDelta[]): TextDelta[] => {
  const list: TextDelta[] = [];
  for (const delta of deltas) {
    const last = list.at(-1);
    if (delta.kind === 'text' && last?.kind === 'text')
      list[list.length - 1] = { ...last, text: last.text + delta.text };
    else if (delta.kind === 'tool_arguments' && last?.kind === 'tool_arguments' && last.index === delta.index)
      list[list.length - 1] = { ...last, text: last.text + delta.text };
    else list.push(delta);
  }
  return list;
};
