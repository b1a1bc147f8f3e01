import { expect, test } from 'vitest';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { SpeechModel } from '../../../../lambdas/core/catalog/schema.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { JsonObject } from '../../../../lambdas/core/json.ts';
import { toSpeechParams } from '../../../../lambdas/protocols/audio/speech-request.ts';
import { speech } from '../../../support/audio-samples.ts';
import { data } from '../../core/catalog/sample-data.ts';

const model = loadCatalog(data([speech()])).entries.find((entry): entry is SpeechModel => entry.kind === 'speech');

const read = (changes: JsonObject = {}) => {
  if (!model) throw new Error('no model');
  const order = toSpeechParams({ model: 'voice-1', input: 'Hello', voice: 'alloy', ...changes });
  return { modelId: order.modelId, ...order.validateFor(model) };
};

const refused = (changes: JsonObject): readonly [string | null, string] => {
  try {
    read(changes);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request_error') return [error.param, error.message];
    throw error;
  }
  throw new Error('not rejected');
};

test('AUD-3 model, text and voice are enough, and mp3 is the default format', () => {
  expect(read()).toEqual({ modelId: 'voice-1', text: 'Hello', voice: 'alloy', format: 'mp3', speed: undefined });
});

test('AUD-3 the client chooses format and speed', () => {
  expect(read({ response_format: 'wav', speed: 0.25, stream_format: 'audio' })).toMatchObject({
    format: 'wav',
    speed: 0.25,
  });
  expect(read({ response_format: null, speed: null, stream_format: null })).toMatchObject({
    format: 'mp3',
    speed: undefined,
  });
});

test.for<[string, JsonObject, string]>([
  ['model', { model: '' }, 'id of a model'],
  ['input', { input: '' }, 'empty'],
  ['input', { input: 'x'.repeat(21) }, '20 characters'],
  ['input', { input: '👋'.repeat(21) }, '20 characters'],
  ['voice', { voice: 'nobody' }, '"alloy", "echo"'],
  ['voice', { voice: { id: 'voice_1' } }, '"alloy", "echo"'],
  ['response_format', { response_format: 'flac' }, '"mp3", "opus", "wav"'],
  ['speed', { speed: 0.24 }, '0.25'],
  ['speed', { speed: 4.1 }, '4'],
  ['speed', { speed: '1' }, '0.25 to 4'],
  ['stream_format', { stream_format: 'sse' }, '"audio"'],
  ['instructions', { instructions: 5 }, 'a string'],
  ['language', { language: 'en' }, 'not supported'],
])('AUD-3 %s in %j gets an error that names it', ([field, changes, words]) => {
  expect(refused(changes)).toEqual([field, expect.stringMatching(new RegExp(`^${field}: .*${words}`))]);
});

test('AUD-3, GEN-16 instructions are ignored and listed, and null and an empty text count as absent', () => {
  const body = { model: 'voice-1', input: 'Hello', voice: 'alloy' };
  expect(toSpeechParams({ ...body, instructions: 'Whisper.' }).ignored).toEqual(['instructions']);
  expect(toSpeechParams({ ...body, instructions: '' }).ignored).toEqual([]);
  expect(toSpeechParams({ ...body, instructions: null, language: null }).ignored).toEqual([]);
  expect(read({ instructions: 'Whisper.' })).toEqual(read());
});

test('AUD-3 the longest text is counted in Unicode characters', () => {
  expect(read({ input: '👋'.repeat(20) }).text).toHaveLength(40);
});
