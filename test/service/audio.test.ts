import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readError, sdkFor, spentBy } from '../support/gateway-chat.ts';
import { receiptOf } from '../support/image-service.ts';

let vendor: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startGateway({ vendorUrl: vendor.url, environment: { UPSTREAM_DEADLINE_SECONDS: '5' } });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});
beforeEach(() => vendor.reset());

/** One second of silence at 16 kHz. */
const wav = (): Buffer => {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + 32_000, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(16_000, 24);
  head.writeUInt32LE(32_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(32_000, 40);
  return Buffer.concat([head, Buffer.alloc(32_000)]);
};

const recording = (name = 'silence.wav'): File => new File([Uint8Array.from(wav())], name, { type: 'audio/wav' });

const postForm = (fields: Readonly<Record<string, string | File>>, path = '/v1/audio/transcriptions') => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.apiKey}` },
    body: form,
  });
};

const postSpeech = (body: object, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'tts-1', voice: 'nova', input: 'Good evening', ...body }),
  });

test.each(['gpt-transcribe', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe'])(
  'CAT-5, AUD-1 the SDK has a recording written down by %s, charged to the pico',
  async (model) => {
    const { result, spent } = await spentBy(gateway, () =>
      sdkFor(gateway).audio.transcriptions.create({ model, file: recording(), language: 'en' }).withResponse(),
    );
    expect(result.data.text).not.toBe('');
    expect(spent).toBeGreaterThan(0n);
    expect(spent).toBe(parseUsd(result.response.headers.get('x-service-cost-usd') ?? ''));
    expect(await receiptOf(gateway, result.response.headers.get('x-request-id') ?? '')).toBe(spent);
  },
);

test('AUD-1 text is the text alone', async () => {
  const response = await postForm({ model: 'gpt-transcribe', file: recording(), response_format: 'text' });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(await response.text()).not.toMatch(/^\s*\{/);
});

test.each([
  ['verbose_json', { response_format: 'verbose_json' }, 400, 'invalid_request_error', 'response_format'],
  ['timestamps', { 'timestamp_granularities[]': 'word' }, 400, 'invalid_request_error', 'timestamp_granularities'],
  ['the whisper-type model', { model: 'whisper-1' }, 404, 'model_not_found', 'model'],
  ['a model for speech', { model: 'tts-1' }, 400, 'invalid_request_error', 'model'],
  ['a stream', { stream: 'true' }, 400, 'invalid_request_error', 'stream'],
])('AUD-1 %s is refused by name before anything is held', async (_what, fields, status, code, param) => {
  const before = await gateway.account();
  const response = await postForm({ model: 'gpt-transcribe', file: recording(), ...fields });
  const error = await readError(response);
  expect([response.status, error.code]).toEqual([status, code]);
  expect(error.param).toContain(param);
  if (status === 404) expect(error.message).toContain('gpt-transcribe');
  expect(vendor.requests).toEqual([]);
  expect(await gateway.account()).toEqual(before);
});

test.each(['tts-1', 'tts-1-hd'])(
  'CAT-5, AUD-3 the SDK gets speech of %s as a file, charged by the character',
  async (model) => {
    const input = 'Good evening 👋';
    const { result, spent } = await spentBy(gateway, () =>
      sdkFor(gateway).audio.speech.create({ model, voice: 'nova', input }),
    );
    expect(result.headers.get('content-type')).toBe('audio/mpeg');
    expect((await result.arrayBuffer()).byteLength).toBeGreaterThan(100);
    expect(spent).toBe((parseUsd(model === 'tts-1' ? '15' : '30') / 1_000_000n) * BigInt([...input].length));
    expect(await receiptOf(gateway, result.headers.get('x-request-id') ?? '')).toBe(spent);
  },
);

test.each([
  ['mp3', 'audio/mpeg'],
  ['opus', 'audio/'],
  ['aac', 'audio/aac'],
  ['flac', 'audio/flac'],
  ['wav', 'audio/wav'],
  ['pcm', 'audio/'],
])('AUD-3 the format %s has the content type %s', async (format, type) => {
  const response = await postSpeech({ response_format: format });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain(type);
  expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
});

test('AUD-3 failure after the first byte breaks the connection and costs nothing', async () => {
  const before = await gateway.untilSettled();
  const response = await postSpeech({ input: `${'A long evening. '.repeat(100)}[[pause 50]][[cut 2]]` });
  expect(response.status).toBe(200);
  await expect(response.arrayBuffer()).rejects.toThrow();
  expect((await gateway.untilSettled()).balance).toBe(before.balance);
});

test('AUD-3, BILL-8 a client that leaves is charged for what the vendor made', async () => {
  const input = `${'A long evening. '.repeat(100)}[[pause 20]]`;
  const { spent } = await spentBy(gateway, async () => {
    const response = await postSpeech({ input });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
  });
  expect(spent).toBe((parseUsd('15') / 1_000_000n) * BigInt(input.length));
});

test.each([
  ['a voice that is none', { voice: 'robot' }, 400, 'invalid_request_error'],
  ['a format that is none', { response_format: 'midi' }, 400, 'invalid_request_error'],
  ['too long an input', { input: 'x'.repeat(4_097) }, 400, 'invalid_request_error'],
  ['an empty input', { input: '' }, 400, 'invalid_request_error'],
  ['a vendor that fails', { input: 'A [[status 500]]' }, 502, 'upstream_error'],
  ['a vendor that does not answer', { input: 'A [[hang]]' }, 504, 'upstream_timeout'],
  ['a connection that breaks before the answer', { input: 'A [[reset]]' }, 502, 'upstream_error'],
])('AUD-3 %s is refused with the right code and costs nothing', async (_what, body, status, code) => {
  const before = await gateway.untilSettled();
  const response = await postSpeech(body);
  expect([response.status, (await readError(response)).code]).toEqual([status, code]);
  expect((await gateway.untilSettled()).balance).toBe(before.balance);
});

test('IDEM-5 audio takes no key', async () => {
  const response = await postSpeech({}, { 'idempotency-key': 'speech-1' });
  expect([response.status, (await readError(response)).code]).toEqual([400, 'idempotency_not_supported']);
});
