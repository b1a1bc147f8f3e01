import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as anthropic from './anthropic/messages-reading.ts';
import * as google from './google/stream-reading.ts';
import * as responses from './openai/responses-reading.ts';
import * as chat from './openai/stream-reading.ts';
import { inPieces } from './played-vendor.ts';

type Read = (body: AsyncIterable<Uint8Array>) => Promise<unknown>;

const googleNames = readdirSync(new URL('../../fixtures/google/', import.meta.url))
  .map((file) => file.replace('.sse', ''))
  .filter((name) => !name.endsWith('.ts') && name !== 'two-candidates');
const anthropicNames = [...anthropic.wholeFixtures, 'error-after-start.sse'];
const chatNames = [
  'chat-stream.sse',
  'chat-stream-tools.sse',
  'vllm-continuous-usage.sse',
  'azure-prompt-filter.sse',
  'compatible-spaced.sse',
];

/** Joins the events, whose batches depend on the network, and drops the number of announcements. */
const withoutBatches =
  (read: typeof anthropic.readNeutral): Read =>
  async (body) => {
    const { native, openings: _, ...rest } = await read(body);
    return { native: native.join(''), ...rest };
  };

const rows = (vendor: string, names: readonly string[], fixture: (name: string) => string, read: Read) =>
  names.map((name) => [`${vendor} ${name}`, fixture(name), read] as const);

const streams = [
  ...rows('google native', googleNames, google.fixture, (body) => google.readAll(body, 'generate_content')),
  ...rows('google neutral', googleNames, google.fixture, (body) => google.readAll(body, 'chat_completions')),
  ...rows('google', ['two-candidates'], google.fixture, (body) => google.readAll(body, 'generate_content', 2)),
  ...rows('anthropic native', anthropicNames, anthropic.fixture, withoutBatches(anthropic.readNative)),
  ...rows('anthropic neutral', anthropicNames, anthropic.fixture, withoutBatches(anthropic.readNeutral)),
  ...rows('responses native', responses.streams, chat.fixture, (body) => responses.readResponses('native', body)),
  ...rows('responses neutral', responses.streams, chat.fixture, (body) => responses.readResponses('neutral', body)),
  ...rows('chat', chatNames, chat.fixture, (body) => chat.readAll(body)),
  ...rows('chat', ['chat-stream-two-choices.sse'], chat.fixture, (body) => chat.readAll(body, { choices: 2 })),
];

test.for(streams)(
  'CHAT-11, GEM-1, MSG-1, RESP-1 %s reads the same byte by byte, with any line end',
  async ([, text, read]) => {
    const plain = text.replaceAll('\r\n', '\n');
    const whole = await read(inPieces(plain));
    for (const ending of ['\n', '\r\n', '\r']) {
      const bytes = Buffer.from(plain.replaceAll('\n', ending));
      expect(await read(inPieces(...[...bytes].map((byte) => Uint8Array.of(byte))))).toEqual(whole);
    }
  },
);
