import * as z from 'zod';
import { charactersIn, type SpeechParams } from '../../core/audio/speak.ts';
import type { SpeechModel } from '../../core/catalog/schema.ts';
import { type GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import { parseWith, showAs } from '../parse.ts';

/** `voice` and `response_format` are checked against the catalog entry of the model. */
const voice = showAs(z.unknown(), { kind: 'schema', schema: { type: 'string', minLength: 1 } });
const format = showAs(z.unknown(), {
  kind: 'schema',
  schema: { type: ['string', 'null'], enum: ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm', null] },
});

/**
 * Body of https://developers.openai.com/api/reference/resources/audio/subresources/speech/methods/create. Models that
 * are priced by character do not support the stream format `sse`, and have no use for `instructions`. Any other field is
 * rejected by name (GEN-9).
 */
export const speechBody = z.strictObject({
  model: z.string('must be the id of a model').min(1, 'must be the id of a model'),
  input: z.string('must be a string').min(1, 'must not be empty'),
  voice: voice.optional(),
  response_format: format.optional(),
  speed: z
    .number('must be a number from 0.25 to 4')
    .min(0.25, 'must be at least 0.25')
    .max(4, 'must be at most 4')
    .nullish(),
  stream_format: z.literal('audio').nullish(),
  instructions: z.string('must be a string').nullish(),
});

/** AUD-3. Throws the 400 that names the field. */
export const toSpeechParams = (json: JsonObject): Omit<SpeechParams, 'dryRun'> => {
  const sent = Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null));
  const body = parseWith(speechBody, sent);
  return {
    modelId: body.model,
    endUser: undefined,
    ignored: body.instructions ? ['instructions'] : [],
    validateFor: ({ speech }) => {
      refuseLong(body.input, speech);
      return {
        text: body.input,
        voice: oneOf('voice', speech.voices, body.voice),
        format: oneOf('response_format', speech.formats, body.response_format ?? 'mp3'),
        speed: body.speed ?? undefined,
      };
    },
  };
};

const refuseLong = (text: string, { maxCharacters }: SpeechModel['speech']): void => {
  // A code point has at most two UTF-16 units, so a very long text is rejected without counting.
  if (text.length <= 2 * maxCharacters && charactersIn(text) <= maxCharacters) return;
  throw refuse('input', `must have at most ${maxCharacters} characters. Split the text.`);
};

const oneOf = <Known extends string>(param: string, known: readonly Known[], sent: unknown): Known => {
  const found = known.find((name) => name === sent);
  if (found !== undefined) return found;
  throw refuse(param, `must be one of ${known.map((name) => JSON.stringify(name)).join(', ')}.`);
};

const refuse = (param: string, problem: string): GatewayError => invalidRequest(param, `${param}: ${problem}`);
