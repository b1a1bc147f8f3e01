import * as z from 'zod';
import { speechBody } from '../../lambdas/protocols/audio/speech-request.ts';
import { file, transcript } from '../answers/media.ts';
import type { Body, Operation } from '../operation.ts';
import { receipt } from '../response-headers.ts';

/** The form is checked by hand, field by field; the tests compare the names. */
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
    file: 'The recording. Its format is known by the ending of its name or by its first bytes.',
    model: 'The id of a transcription model.',
    language: 'The language that is spoken, as ISO-639-1 has it.',
    prompt: 'Words that may occur.',
    response_format: 'JSON, or the text alone. `json` if left out. Timestamps and subtitles are not served.',
    temperature: 'A number from 0 to 1.',
    stream: 'A transcript comes as a whole.',
  },
  more: { file },
  alsoRequired: ['file'],
  examples: {
    plain: {
      summary: 'A recording',
      value: { model: 'gpt-4o-mini-transcribe', language: 'en', file: 'evening.wav' },
    },
    text: {
      summary: 'The text alone',
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
  input: 'What is to be said. How long it may be is in `limits.max_characters` of the model.',
  voice: 'One of `limits.voices` of the model.',
  response_format: 'One of `limits.formats` of the model; `mp3` if left out.',
  speed: 'How fast; 1 if left out.',
  stream_format: 'Only the audio itself.',
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
    summary: 'Write a recording down',
    description: 'Charged by the tokens or the seconds, rounded up, that the vendor counts.',
    form: transcriptionRequest,
    answers: {
      '200': {
        description: 'What is said.',
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
    summary: 'Say a text',
    description:
      'Charged by the characters of the input, as Unicode code points. The audio goes out as it arises. Where it breaks off so does the connection, and nothing is charged.',
    json: speechRequest,
    answers: {
      '200': {
        description: 'The audio. What it cost is in the receipt, not in a header.',
        content: Object.fromEntries(mediaTypes.map((type) => [type, { schema: file }])),
      },
    },
    codes: ['idempotency_not_supported'],
  },
};
