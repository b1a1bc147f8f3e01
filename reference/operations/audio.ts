import * as z from 'zod';
import { speechBody } from '../../lambdas/protocols/audio/speech-request.ts';
import { file, transcript } from '../answers/media.ts';
import type { Body, Operation } from '../operation.ts';
import { requireParameters } from '../parameters.ts';
import { receipt } from '../response-headers.ts';

/** Schema of the form, which code checks field by field. A test compares the names. */
const transcriptionForm = z.strictObject({
  model: z.string(),
  language: z
    .string()
    .regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$/)
    .optional(),
  prompt: z.string().max(4_000).optional(),
  response_format: z.enum(['json', 'text']).optional(),
  temperature: z
    .string()
    .regex(/^(?:0|1)(?:\.\d{1,10})?$|^\.\d{1,10}$/)
    .optional(),
  stream: z.literal('false').optional(),
});

export const transcriptionRequest: Body = {
  name: 'TranscriptionForm',
  schema: transcriptionForm,
  fields: {
    file: 'The recording. The gateway detects the format by the file extension or by the first bytes.',
    model: 'The id of a transcription model.',
    language: 'Spoken language as an ISO 639-1 code.',
    prompt: 'Words that are likely to occur.',
    response_format: 'JSON, or plain text. Default: `json`. Timestamps and subtitles are not supported.',
    temperature: 'A number from 0 to 1.',
    stream: 'Must be false: a transcript is not streamed.',
  },
  more: { file },
  alsoRequired: ['file'],
  examples: {
    plain: {
      summary: 'A recording',
      value: { model: 'gpt-4o-mini-transcribe', language: 'en', file: 'evening.wav' },
    },
    text: {
      summary: 'Plain text',
      value: {
        model: 'gpt-4o-mini-transcribe',
        language: 'en',
        prompt: 'Riga',
        response_format: 'text',
        temperature: '0',
        file: 'evening.wav',
      },
    },
  },
};

const speechFields: Record<keyof typeof speechBody.shape, string> = {
  model: 'The id of a speech model.',
  input: 'Text to speak. `limits.max_characters` of the model is its maximum length.',
  voice: 'One of `limits.voices` of the model.',
  response_format: 'One of `limits.formats` of the model. Default: `mp3`.',
  speed: 'Speed. Default: 1.',
  stream_format: 'Must be `audio`, the bytes of the audio.',
  instructions: 'Not sent, because no model follows it. `X-Service-Ignored-Parameters` lists it.',
};

const speechRequest: Body = {
  name: 'SpeechRequest',
  schema: speechBody,
  fields: speechFields,
  alsoRequired: ['voice'],
  examples: {
    plain: { summary: 'A sentence', value: { model: 'tts-1', voice: 'nova', input: 'Good evening' } },
  },
};

const mediaTypes = ['audio/mpeg', 'audio/opus', 'audio/aac', 'audio/flac', 'audio/wav', 'audio/pcm'];

export const audioOperations: Record<'transcribe' | 'speak', Operation> = {
  transcribe: {
    tag: 'Audio',
    summary: 'Transcribe a recording',
    description: 'Charged by the tokens or by the seconds, rounded up, that the provider counts.',
    form: transcriptionRequest,
    answers: {
      '200': {
        description: 'The transcript.',
        headers: receipt,
        content: {
          'application/json': { schema: transcript },
          'text/plain': { schema: { type: 'string' }, example: 'Good evening.' },
        },
      },
    },
    codes: ['idempotency_not_supported'],
  },
  speak: {
    tag: 'Audio',
    summary: 'Create speech from text',
    description:
      'Charged by the characters (Unicode code points) of the input. The audio is streamed as it is created. If it breaks off, the connection closes and nothing is charged.',
    parameters: [requireParameters],
    json: speechRequest,
    answers: {
      '200': {
        description: 'The audio. The receipt has the cost; there is no cost header.',
        headers: ['X-Service-Ignored-Parameters'],
        content: Object.fromEntries(mediaTypes.map((type) => [type, { schema: file }])),
      },
    },
    codes: ['idempotency_not_supported'],
  },
};
