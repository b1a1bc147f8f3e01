import * as z from 'zod';
import type { Scenario } from '../scenario.ts';
import type { Answer, Piece, Wire, WireRequest } from '../wire.ts';
import { contentTypeOf, soundPieces, speechFormats } from './audio-sounds.ts';
import { openaiError, openaiRefusal } from './error.ts';
import { hasBearer, openaiHeaders } from './headers.ts';
import { modelOf } from './loose-body.ts';
import { parseBody } from './request-errors.ts';

/** `POST /v1/audio/speech`: returns only the file, without its cost. */
export const openaiSpeech: Wire = {
  method: 'POST',
  path: /^\/v1\/audio\/speech$/,
  isAuthorized: hasBearer,
  lastUserText: (body) => looseSchema.safeParse(body).data?.input ?? '',
  answer,
  refuse: (refusal, request) => openaiRefusal(refusal, modelOf(request.body)),
  errorFrame: () => '',
  headers: openaiHeaders,
};

const looseSchema = z.looseObject({ input: z.string() });

const voices = ['alloy', 'ash', 'ballad', 'coral', 'echo', 'fable', 'onyx', 'nova', 'sage', 'shimmer'];
const newVoices = ['verse', 'marin', 'cedar'];
const charactersMax = 4_096;
/** Size of speech at a normal pace, 64 kbit/s. */
const bytesPerCharacter = 560;

/** `speech.create` of https://github.com/openai/openai-node */
const requestSchema = z.strictObject({
  model: z.string(),
  input: z.string().min(1),
  voice: z.string(),
  response_format: z.string().default('mp3'),
  speed: z.number().min(0.25).max(4).default(1),
  stream_format: z.enum(['audio', 'sse']).optional(),
  instructions: z.string().optional(),
});

function answer({ body }: WireRequest, { textBytes }: Scenario): Answer {
  const { model, input, voice, response_format: format, speed } = parseBody(requestSchema, body);
  if ([...input].length > charactersMax) {
    const message = `Invalid 'input': string too long. Expected a string with maximum length ${charactersMax}.`;
    throw openaiError(400, message, { param: 'input', code: 'string_above_max_length' });
  }
  refuseOther('model', model, ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts']);
  refuseOther('voice', voice, [...voices, ...newVoices]);
  refuseOther('response_format', format, speechFormats);
  const length = textBytes ?? Math.ceil((input.length * bytesPerCharacter) / speed);
  return { kind: 'file', contentType: contentTypeOf(format), length, pieces: toPieces(format, length) };
}

function* toPieces(format: string, length: number): Generator<Piece> {
  for (const bytes of soundPieces(format, length)) yield { bytes };
}

function refuseOther(param: string, value: string, known: readonly string[]): void {
  if (known.includes(value)) return;
  const names = new Intl.ListFormat('en').format(known.map((one) => `'${one}'`));
  const message = `Invalid value: '${value}'. Supported values are: ${names}.`;
  throw openaiError(400, message, { param, code: 'invalid_value' });
}
