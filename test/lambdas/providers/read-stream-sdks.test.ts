import { Stream as AnthropicStream } from '@anthropic-ai/sdk/core/streaming';
import { Stream as OpenAiStream } from 'openai/core/streaming';
import { expect, test } from 'vitest';
import { forms } from '../../fixtures/sse/forms.ts';
import { allFrames, bytesOf, cutAt } from '../../fixtures/sse/pieces.ts';
import { vendors } from '../../fixtures/sse/vendors.ts';

const listOf = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
};

/**
 * SDKs of the providers as readers of a stream. The OpenAI readers stop at `[DONE]`; the `anthropic` reader drops pings
 * and unnamed events.
 */
const judges: Readonly<Record<string, (text: string) => Promise<unknown[]>>> = {
  openai: (text) => listOf(OpenAiStream.fromSSEResponse(new Response(text), new AbortController())),
  'openai, with names': (text) =>
    listOf(OpenAiStream.fromSSEResponse(new Response(text), new AbortController(), undefined, true, 'events')),
  anthropic: (text) => listOf(AnthropicStream.fromSSEResponse(new Response(text), new AbortController())),
  'anthropic, raw': async (text) => {
    const events = await listOf(AnthropicStream.rawEvents(new Response(text)));
    return events.map(({ event, data }) => [event ?? '', data]);
  },
};

const fixtures = [...forms, ...vendors].filter(({ notForSdks }) => notForSdks === undefined);

test.each(fixtures.flatMap((fixture) => Object.entries(judges).map(([sdk, read]) => ({ ...fixture, sdk, read }))))(
  'CHAT-11 $sdk reads the sent events like the received ones: $name',
  async ({ wire, events, sdk, read }) => {
    const frames = await allFrames(cutAt(bytesOf(wire), [30, 31, 70]));
    const seen = await read(frames.map(({ text }) => text).join(''));
    expect(seen).toEqual(await read(wire));
    if (sdk === 'anthropic, raw') expect(seen).toEqual(events);
    if (sdk !== 'anthropic') expect(seen.length).toBeGreaterThan(0);
  },
);
