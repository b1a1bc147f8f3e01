import * as z from 'zod';
import type {
  AudioFile,
  AudioUsage,
  SpeechAsk,
  SpeechWire,
  Transcript,
  TranscriptionAsk,
  TranscriptionWire,
} from '../../core/audio/audio-wire.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { readJson, tokenCount } from '../read-json.ts';
import { unreadable } from '../refusals.ts';
import { callVendor, type VendorCall, type WireOptions } from '../vendor-call.ts';
import { parseRefusal, toInBandError, toOpenaiError } from './errors.ts';

const refuseSpeech: VendorCall['refuse'] = (status, body, refusalContext) =>
  toOpenaiError(status, parseRefusal(body), refusalContext, 'input');

/**
 * https://developers.openai.com/api/reference/resources/audio/subresources/speech/methods/create. The response is the
 * file, without any usage.
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
      refuse: refuseSpeech,
    });
    const type = typeOf(response.headers['content-type']);
    // A text or a document is not audio, whatever the status.
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

const refuseTranscription: VendorCall['refuse'] = (status, body, refusalContext) =>
  toOpenaiError(status, parseRefusal(body), refusalContext, 'file');

/**
 * https://developers.openai.com/api/reference/resources/audio/subresources/transcriptions/methods/create. Always
 * requests JSON, because a text response has no usage.
 */
export const createTranscriptionWire = (options: WireOptions): TranscriptionWire => ({
  transcribe: async ({ provider, upstream, signal, ...ask }) => {
    const { response, refusalContext } = await callVendor(options, {
      provider,
      path: '/audio/transcriptions',
      form: toForm(upstream.model, ask),
      streamed: false,
      signal,
      refuse: refuseTranscription,
    });
    const body = await readJson(response);
    if (!isJsonObject(body)) throw unreadable();
    if (isJsonObject(body.error)) throw toInBandError(parseRefusal(body), refusalContext, 'file');
    const { text, usage } = body;
    if (typeof text !== 'string') throw unreadable();
    return {
      text,
      counted: toAudioUsage(usage),
      reported: isJsonObject(usage) ? usage : undefined,
    } satisfies Transcript;
  },
});

const toForm = (model: string, { file, language, prompt, temperature }: TranscriptionAsk): FormData => {
  const form = new FormData();
  // Fields come before the file, so that a server that reads the form piece by piece knows how to treat the file.
  for (const [name, value] of Object.entries({ model, response_format: 'json', language, prompt, temperature })) {
    if (value !== undefined) form.set(name, value);
  }
  form.set('file', toFile(file));
  return form;
};

const toFile = ({ name, mediaType, bytes }: AudioFile): File =>
  new File([new Uint8Array(bytes)], name, mediaType === '' ? {} : { type: mediaType });

/** The package openai 7.55.0 has both forms, as `Transcription.Tokens` and `Transcription.Duration`. */
const reportedUsage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('duration'), seconds: tokenCount }),
  z.object({
    type: z.literal('tokens'),
    input_tokens: tokenCount,
    output_tokens: tokenCount,
    input_token_details: z.object({ text_tokens: tokenCount, audio_tokens: tokenCount }).nullish().catch(null),
  }),
]);

type Reported = z.output<typeof reportedUsage>;

const toAudioUsage = (reported: JsonValue | undefined): AudioUsage | undefined => {
  const usage = reportedUsage.safeParse(reported).data;
  if (usage?.type === 'tokens') return toTokens(usage);
  const seconds = usage?.seconds ?? undefined;
  return seconds === undefined ? undefined : { kind: 'duration', seconds };
};

/** Tokens that are not reported as text count as audio. */
const toTokens = (usage: Extract<Reported, { readonly type: 'tokens' }>): AudioUsage | undefined => {
  const text = usage.input_token_details?.text_tokens ?? undefined;
  const audio = usage.input_token_details?.audio_tokens ?? undefined;
  const detailed = text === undefined && audio === undefined ? undefined : (text ?? 0) + (audio ?? 0);
  const prompt = usage.input_tokens ?? detailed;
  const output = usage.output_tokens ?? undefined;
  if (prompt === undefined && output === undefined) return undefined;
  const total = prompt ?? 0;
  const input = Math.max(0, Math.min(text ?? total - (audio ?? total), total));
  const rest = { cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 };
  return { kind: 'tokens', tokens: { input, audioInput: total - input, output: output ?? 0, ...rest } };
};
