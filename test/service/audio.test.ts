import { expect, test } from 'vitest';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { readError, sdkFor, spentBy } from '../support/gateway-chat.ts';
import { receiptOf } from '../support/image-service.ts';
import { silence } from './silence.ts';
import { startSimulated } from './simulated-gateway.ts';

const { vendor, gateway } = await startSimulated();
const sdk = sdkFor(gateway);

const recording = (name = 'silence.wav'): File => new File([Uint8Array.from(silence())], name, { type: 'audio/wav' });

const postForm = (fields: Readonly<Record<string, string | File>>) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return fetch(`${gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.apiKey}` },
    body: form,
  });
};

const postSpeech = (body: object) =>
  fetch(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts-1', voice: 'nova', input: 'Good evening', ...body }),
  });

test.each(['gpt-transcribe', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe'])(
  'CAT-5, AUD-1 the SDK transcribes a recording with %s, charged to the pico-dollar',
  async (model) => {
    const { result, spent } = await spentBy(gateway, () =>
      sdk.audio.transcriptions.create({ model, file: recording(), language: 'en' }).withResponse(),
    );
    expect(result.data.text).not.toBe('');
    expect(spent).toBeGreaterThan(0n);
    expect(spent).toBe(parseUsd(result.response.headers.get('x-service-cost-usd') ?? ''));
    expect(await receiptOf(gateway, result.response.headers.get('x-request-id') ?? '')).toBe(spent);
  },
);

test('AUD-1 the text format returns only the text', async () => {
  const response = await postForm({ model: 'gpt-transcribe', file: recording(), response_format: 'text' });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(await response.text()).not.toMatch(/^\s*\{/);
});

test('AUD-1 a model of another kind, and timestamps, are rejected before a hold', async () => {
  const before = await gateway.account();
  const file = recording();
  for (const [fields, status, param] of [
    [{ 'timestamp_granularities[]': 'word' }, 400, 'timestamp_granularities'],
    [{ model: 'whisper-1' }, 404, 'model'],
    [{ model: 'tts-1' }, 400, 'model'],
  ] as const) {
    const response = await postForm({ model: 'gpt-transcribe', file, ...fields });
    expect([response.status, (await readError(response)).param]).toEqual([status, expect.stringContaining(param)]);
  }
  expect(vendor.requests).toEqual([]);
  expect(await gateway.account()).toEqual(before);
});

test.each(['tts-1', 'tts-1-hd'])(
  'CAT-5, AUD-3 the SDK gets speech from %s as a file, charged by the character',
  async (model) => {
    const input = 'Good evening 👋';
    const { result, spent } = await spentBy(gateway, () => sdk.audio.speech.create({ model, voice: 'nova', input }));
    expect(result.headers.get('content-type')).toBe('audio/mpeg');
    expect((await result.arrayBuffer()).byteLength).toBeGreaterThan(100);
    expect(spent).toBe((parseUsd(model === 'tts-1' ? '15' : '30') / 1_000_000n) * BigInt([...input].length));
    expect(await receiptOf(gateway, result.headers.get('x-request-id') ?? '')).toBe(spent);
  },
);

test('AUD-3, GEN-16 instructions are not sent, and the header and the receipt list them', async () => {
  const response = await postSpeech({ instructions: 'Whisper.', speed: null });
  expect([response.status, response.headers.get('x-service-ignored-parameters')]).toEqual([200, 'instructions']);
  await response.arrayBuffer();
  const receipt = await fetch(`${gateway.url}/api/usage/${response.headers.get('x-request-id')}`, {
    headers: { authorization: `Bearer ${gateway.apiKey}` },
  });
  expect(await receipt.json()).toMatchObject({ ignored: ['instructions'] });
  expect(JSON.stringify(vendor.requests)).not.toContain('Whisper');
});

test('AUD-3 a failure after the first byte closes the connection and costs nothing', async () => {
  const input = `${'A long evening. '.repeat(100)}[[pause 50]][[cut 2]]`;
  const { spent } = await spentBy(gateway, async () => {
    const response = await postSpeech({ input });
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
  });
  expect(spent).toBe(0n);
});

test('AUD-3, BILL-8 a client that leaves is charged for the created audio', async () => {
  const input = `${'A long evening. '.repeat(20)}[[pause 2]]`;
  const { spent } = await spentBy(gateway, async () => {
    const response = await postSpeech({ input });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
  });
  expect(spent).toBe((parseUsd('15') / 1_000_000n) * BigInt(input.length));
});

test.each([
  ['an unknown voice', { voice: 'robot' }, 400, 'invalid_request_error'],
  ['a provider that fails', { input: 'A [[status 500]]' }, 502, 'upstream_error'],
])('AUD-3 %s has the right error code and costs nothing', async (_what, body, status, code) => {
  const { result: response, spent } = await spentBy(gateway, () => postSpeech(body));
  expect([response.status, (await readError(response)).code, spent]).toEqual([status, code, 0n]);
});
