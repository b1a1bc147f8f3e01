import { expect, test } from 'vitest';
import type { TranscriptionAsk } from '../../../../lambdas/core/audio/audio-wire.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { parseFormBody } from '../../../../lambdas/http/form-body.ts';
import { createSpeechWire, createTranscriptionWire } from '../../../../lambdas/providers/openai/audio-wire.ts';
import { audioTokens } from '../../../support/audio-samples.ts';
import { providerOf } from '../../core/text/text-models.ts';
import { codeOf, playVendor } from '../played-vendor.ts';

interface Played {
  readonly status?: number;
  readonly type?: string;
  readonly body: string;
}

const playing = ({ type, body, status = 200 }: Played) => {
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
  const { options, seen } = playVendor('https://vendor.test/v1', { status, body, headers });
  const upstream = {
    provider: 'openai',
    model: 'vendor-name',
    wire: 'openai_audio',
    when: 'always',
    enabled: true,
  } as const;
  const call = { provider: providerOf(), upstream, signal: new AbortController().signal };
  return { options, requests: seen.requests, state: seen, call };
};

const failure = async (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => undefined,
    (error: unknown) => error,
  );

const file = { name: 'Ä "1".mp3', mediaType: 'audio/mpeg', bytes: Buffer.from('ID3') };
const ask: TranscriptionAsk = { file, language: 'en', prompt: 'Names', temperature: '0.20' };

const heard = async (body: string, asked = ask) => {
  const { options, call, ...rest } = playing({ body });
  const transcript = await createTranscriptionWire(options).transcribe({ ...call, ...asked });
  return { transcript, ...rest };
};

test('AUD-1 a recording is sent as a form, and the response is always requested as JSON', async () => {
  const { requests } = await heard('{"text":"Hi"}');
  const [request] = requests;
  expect([requests.length, request?.method, request?.url]).toEqual([
    1,
    'POST',
    'https://vendor.test/v1/audio/transcriptions',
  ]);
  const form = parseFormBody(request?.bytes ?? Buffer.alloc(0), request?.headers['content-type'] ?? '');
  expect(Object.fromEntries(form.fields.map(({ name, value }) => [name, value]))).toEqual({
    model: 'vendor-name',
    response_format: 'json',
    language: 'en',
    prompt: 'Names',
    temperature: '0.20',
  });
  expect(form.files).toMatchObject([{ field: 'file', mediaType: 'audio/mpeg', bytes: new Uint8Array(file.bytes) }]);
});

test('AUD-1 a field that the client omitted is not sent', async () => {
  const nothing = { file: { ...file, mediaType: '' }, language: undefined, prompt: undefined, temperature: undefined };
  const { requests } = await heard('{"text":""}', { ...ask, ...nothing });
  const form = parseFormBody(requests[0]?.bytes ?? Buffer.alloc(0), requests[0]?.headers['content-type'] ?? '');
  expect(form.fields.map(({ name }) => name)).toEqual(['model', 'response_format']);
});

const tokens = (input: number, audio: number, output: number) => ({
  kind: 'tokens',
  tokens: audioTokens(input, audio, output),
});

test.for([
  [
    { type: 'duration', seconds: 9.2 },
    { kind: 'duration', seconds: 10 },
  ],
  [
    { type: 'duration', seconds: 9 },
    { kind: 'duration', seconds: 9 },
  ],
  [
    { type: 'duration', seconds: 0 },
    { kind: 'duration', seconds: 0 },
  ],
  [
    { type: 'tokens', input_tokens: 14, input_token_details: { text_tokens: 4, audio_tokens: 10 }, output_tokens: 45 },
    tokens(4, 10, 45),
  ],
  [{ type: 'tokens', input_tokens: 14, output_tokens: 45 }, tokens(0, 14, 45)],
  [{ type: 'tokens', input_tokens: 14, input_token_details: { audio_tokens: 10 }, output_tokens: 4 }, tokens(4, 10, 4)],
  [{ type: 'tokens', input_tokens: 14, input_token_details: { audio_tokens: 99 }, output_tokens: 4 }, tokens(0, 14, 4)],
  [{ type: 'tokens', input_tokens: 14, input_token_details: { text_tokens: 99 }, output_tokens: 4 }, tokens(14, 0, 4)],
  [{ type: 'tokens', input_token_details: { text_tokens: 1, audio_tokens: 2 } }, tokens(1, 2, 0)],
  [{ type: 'tokens', output_tokens: 4 }, tokens(0, 0, 4)],
  [{ type: 'tokens' }, undefined],
  [{ type: 'duration' }, undefined],
  [{ type: 'duration', seconds: -1 }, undefined],
  [{ type: 'words', words: 3 }, undefined],
  [{ input_tokens: 3 }, undefined],
  [null, undefined],
] as const)('BILL-11 a usage of %j is read', async ([usage, counted]) => {
  const { transcript } = await heard(JSON.stringify({ text: 'Hi', usage }));
  expect(transcript).toEqual({ text: 'Hi', counted, reported: usage ?? undefined });
});

test('BILL-7 an infinite duration counts as the largest safe integer', async () => {
  const { transcript } = await heard('{"text":"Hi","usage":{"type":"duration","seconds":1e999}}');
  expect(transcript.counted).toEqual({ kind: 'duration', seconds: Number.MAX_SAFE_INTEGER });
});

test.for(['', '<html>', '[]', '{}', '{"text":7}', '{"text":"Hi"'])(
  'ERR-9 200 with %s is upstream_error',
  async (body) => {
    expect(codeOf(await failure(heard(body)))).toBe('upstream_error');
  },
);

test('ERR-9 each rejection by the provider gets the matching error code of the gateway', async () => {
  const of = async (status: number, error: object) => {
    const { options, call } = playing({ status, body: JSON.stringify({ error }) });
    return failure(createTranscriptionWire(options).transcribe({ ...call, ...ask }));
  };
  expect(await of(400, { message: 'audio duration 1600 seconds is longer', code: 'invalid_value' })).toMatchObject({
    code: 'invalid_request_error',
    message: expect.stringContaining('1600'),
  });
  expect(await of(401, { message: 'no', code: 'invalid_api_key' })).toMatchObject({ code: 'service_unavailable' });
  expect(await of(404, { message: 'no' })).toMatchObject({ code: 'model_unavailable' });
  expect(await of(429, { message: 'no' })).toMatchObject({ code: 'upstream_capacity' });
  const inBand = await failure(heard('{"error":{"message":"slow","type":"rate_limit_error"}}'));
  expect(codeOf(inBand)).toBe('upstream_capacity');
});

const spoken = async (played: Played, speed?: number) => {
  const { options, call, ...rest } = playing(played);
  const asked = { text: 'Hello', voice: 'alloy', format: 'opus', speed } as const;
  const sound = await createSpeechWire(options).speak({ ...call, ...asked });
  return { sound, ...rest };
};

const firstOf = async (bytes: AsyncIterator<Uint8Array, unknown>): Promise<string> => {
  const next = await bytes.next();
  return next.done ? '' : Buffer.from(next.value).toString();
};

test('AUD-3 a text is sent as JSON, and the response is requested as audio', async () => {
  const { requests } = await spoken({ body: 'x' }, 1.5);
  const [request] = requests;
  expect([requests.length, request?.url]).toEqual([1, 'https://vendor.test/v1/audio/speech']);
  expect(request?.headers.accept).toMatch(/^audio\/\*/);
  expect(JSON.parse(request?.body ?? '')).toEqual({
    model: 'vendor-name',
    input: 'Hello',
    voice: 'alloy',
    response_format: 'opus',
    speed: 1.5,
  });
  expect(JSON.parse((await spoken({ body: 'x' })).requests[0]?.body ?? '')).not.toHaveProperty('speed');
});

test.for([
  ['audio/opus', 'audio/opus'],
  ['Audio/L16; rate=24000', 'Audio/L16; rate=24000'],
  ['application/octet-stream', undefined],
  ['', undefined],
  [undefined, undefined],
] as const)('AUD-3 a content type of %s reaches the client if it is an audio type', async ([type, expected]) => {
  const { sound } = await spoken({ body: 'sound', ...(type === undefined ? {} : { type }) });
  expect(sound.mediaType).toBe(expected);
  expect(await firstOf(sound.bytes)).toBe('sound');
});

test.for(['text/html', 'text/event-stream', 'application/json; charset=utf-8', 'application/problem+json'])(
  'AUD-3 200 with the content type %s is upstream_error',
  async (type) => {
    const { options, call, state } = playing({ body: '{}', type });
    const asked = { text: 'Hello', voice: 'alloy', format: 'mp3', speed: undefined } as const;
    const error = await failure(createSpeechWire(options).speak({ ...call, ...asked }));
    expect([error instanceof GatewayError && error.code, state.discarded]).toEqual(['upstream_error', 1]);
  },
);
