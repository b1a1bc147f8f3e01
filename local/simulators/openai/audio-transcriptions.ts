import * as z from 'zod';
import { readForm, type SentFile } from '../read-form.ts';
import { type Scenario, withoutMarkers } from '../scenario.ts';
import { countTokens } from '../tokens.ts';
import { type Answer, jsonAnswer, type Wire, type WireRequest } from '../wire.ts';
import { openaiError, openaiRefusal } from './error.ts';
import { hasBearer, openaiHeaders } from './headers.ts';
import { modelOf } from './loose-body.ts';
import { parseBody } from './request-errors.ts';

/** Typical rate of compressed speech, 64 kbit/s, because nothing is decoded here. */
const compressedBytesPerSecond = 8_000;

/** Reads the length of a WAV from its header. Estimates other formats from their size. */
export function secondsOf(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isWav = bytes.length >= 44 && Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'RIFF';
  const rate = isWav ? view.getUint32(28, true) : compressedBytesPerSecond;
  const sound = isWav ? bytes.length - 44 : bytes.length;
  return Math.round((sound / (rate || compressedBytesPerSecond)) * 100) / 100;
}

/** `POST /v1/audio/transcriptions`. */
export const openaiTranscriptions: Wire = {
  method: 'POST',
  path: /^\/v1\/audio\/transcriptions$/,
  isAuthorized: hasBearer,
  lastUserText: (_, { headers, bytes }) => promptSchema.safeParse(readForm(headers, bytes)).data?.prompt ?? '',
  answer,
  refuse: (refusal, { headers, bytes }) => openaiRefusal(refusal, modelOf(readForm(headers, bytes))),
  errorFrame: () => '',
  headers: openaiHeaders,
};

const promptSchema = z.looseObject({ prompt: z.string() });

const fileSchema: z.ZodType<SentFile> = z.object({
  fileName: z.string(),
  mediaType: z.string(),
  bytes: z.instanceof(Uint8Array),
});

/** Fields of `transcriptions.create` (https://github.com/openai/openai-node) that the gateway sends. */
const requestSchema = z.strictObject({
  model: z.string(),
  file: z.unknown(),
  language: z.string().optional(),
  prompt: z.string().optional(),
  response_format: z.string().default('json'),
  temperature: z.string().optional(),
});

/** Unit of the price, and the longest recording in seconds, by model. */
const models: Readonly<Record<string, { readonly by: 'tokens' | 'duration'; readonly secondsMax: number }>> = {
  'gpt-transcribe': { by: 'duration', secondsMax: Number.POSITIVE_INFINITY },
  'gpt-4o-transcribe': { by: 'tokens', secondsMax: 1_500 },
  'gpt-4o-mini-transcribe': { by: 'tokens', secondsMax: 1_500 },
};

const formats = ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'ogg', 'wav', 'webm'];
const fileBytesMax = 25 * 1024 * 1024;

function answer({ headers, bytes }: WireRequest, scenario: Scenario): Answer {
  const request = parseBody(requestSchema, readForm(headers, bytes));
  const model = models[request.model];
  if (model === undefined) throw openaiRefusal({ kind: 'model-not-found' }, request.model);
  if (request.response_format !== 'json') refuseFormat(request.response_format, request.model);
  const file = parseFile(request.file);
  const seconds = secondsOf(file.bytes);
  if (seconds > model.secondsMax) {
    const message = `audio duration ${seconds} seconds is longer than ${model.secondsMax} seconds which is the maximum for this model`;
    throw openaiError(400, message, { code: 'invalid_value' });
  }
  const text = `This is a simulated transcript of ${file.fileName}, ${file.bytes.length} bytes.`;
  const usage = scenario.noUsage ? undefined : usageOf(model.by, { text, seconds, prompt: request.prompt }, scenario);
  return jsonAnswer({ text, usage });
}

function refuseFormat(format: string, model: string): never {
  const message = `response_format '${format}' is not compatible with model '${model}'. Use 'json' or 'text' instead.`;
  throw openaiError(400, message, { param: 'response_format', code: 'unsupported_value' });
}

function parseFile(sent: unknown): SentFile {
  const file = fileSchema.safeParse(sent).data;
  if (file === undefined) throw openaiError(400, "Missing required parameter: 'file'.", { param: 'file' });
  if (file.bytes.length > fileBytesMax) {
    const message = `Maximum content size limit (${fileBytesMax}) exceeded (${file.bytes.length} bytes read)`;
    throw openaiError(413, message);
  }
  const ending = file.fileName.split('.').at(-1)?.toLowerCase() ?? '';
  if (formats.includes(ending)) return file;
  throw openaiError(400, `Unsupported file format ${ending}`, { param: 'file', code: 'unsupported_value' });
}

type Heard = { readonly text: string; readonly seconds: number; readonly prompt: string | undefined };

/** A token of sound lasts 100 ms: https://developers.openai.com/api/docs/guides/realtime-costs */
function usageOf(by: 'tokens' | 'duration', { text, seconds, prompt = '' }: Heard, { claimedUsage }: Scenario) {
  if (by === 'duration') return { type: 'duration', seconds: claimedUsage?.input ?? seconds };
  const textTokens = countTokens(withoutMarkers(prompt));
  const input = claimedUsage?.input ?? Math.ceil(seconds * 10) + textTokens;
  const output = claimedUsage?.output ?? countTokens(text);
  return {
    type: 'tokens',
    input_tokens: input,
    input_token_details: { text_tokens: textTokens, audio_tokens: Math.max(0, input - textTokens) },
    output_tokens: output,
    total_tokens: input + output,
  };
}
