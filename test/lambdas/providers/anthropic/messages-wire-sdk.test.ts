import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import {
  cutAfter,
  fixture,
  framesIn,
  inPieces,
  OUR_MODEL,
  readNative,
  sentOf,
  wholeFixtures,
} from './messages-reading.ts';

const ask = {
  model: OUR_MODEL,
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'Hi' }],
};

/** The provider's SDK with a fixed response. */
const clientFor = (text: string): Anthropic =>
  new Anthropic({
    apiKey: 'sk-service-x',
    maxRetries: 0,
    fetch: async () => new Response(text, { status: 200, headers: { 'content-type': 'text/event-stream' } }),
  });

const finalMessage = (text: string) => clientFor(text).messages.stream(ask).finalMessage();

test.for(wholeFixtures)('MSG-6 the SDK reads %s like the provider’s stream, except for the model', async (name) => {
  const sent = sentOf(await readNative(inPieces(fixture(name))));
  expect(await finalMessage(sent)).toEqual({ ...(await finalMessage(fixture(name))), model: OUR_MODEL });
});

test.for(wholeFixtures)('MSG-6, BILL-9 the SDK reads %s to its end if only message_stop was lost', async (name) => {
  const frames = framesIn(fixture(name));
  const sent = sentOf(await readNative(cutAfter(...frames.slice(0, -1))));
  expect(await finalMessage(sent)).toEqual({ ...(await finalMessage(fixture(name))), model: OUR_MODEL });
});
