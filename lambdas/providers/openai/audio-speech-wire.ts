import type { SpeechAsk, SpeechWire } from '../../core/audio/audio-wire.ts';
import type { JsonObject } from '../../core/json.ts';
import { unreadable } from '../refusals.ts';
import { callVendor, type VendorCall, type WireOptions } from '../vendor-call.ts';
import { parseRefusal, toOpenaiError } from './errors.ts';

const refuse: VendorCall['refuse'] = (status, body, told) => toOpenaiError(status, parseRefusal(body), told, 'input');

/**
 * https://developers.openai.com/api/reference/resources/audio/subresources/speech/methods/create. The answer is the file itself, without
 * a word of usage.
 */
export const createSpeechWire = (options: WireOptions): SpeechWire => ({
  speak: async ({ provider, upstream, signal, ...ask }) => {
    const { response } = await callVendor(options, {
      provider,
      path: '/audio/speech',
      body: toBody(upstream.model, ask),
      streamed: false,
      accept: 'audio/*, application/octet-stream;q=0.5',
      signal,
      refuse,
    });
    const type = typeOf(response.headers['content-type']);
    // A page or a document is no sound, whatever the status says.
    if (/^text\/|[/+](?:json|xml)$/.test(type.name)) {
      response.discard();
      throw unreadable();
    }
    const bytes = response.body[Symbol.asyncIterator]();
    return {
      mediaType: type.name.startsWith('audio/') ? type.whole : undefined,
      bytes,
      close: () => response.discard(),
    };
  },
});

const toBody = (model: string, { text, voice, format, speed }: SpeechAsk): JsonObject => ({
  model,
  input: text,
  voice,
  response_format: format,
  ...(speed === undefined ? {} : { speed }),
});

const typeOf = (header: string | string[] | undefined): { readonly whole: string; readonly name: string } => {
  const whole = typeof header === 'string' ? header.trim() : '';
  return { whole, name: whole.split(';', 1)[0]?.trim().toLowerCase() ?? '' };
};
