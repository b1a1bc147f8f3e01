import { expect, test } from 'vitest';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { TranscriptionModel } from '../../../../lambdas/core/catalog/schema.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { Form, FormFile } from '../../../../lambdas/http/exchange.ts';
import { toTranscriptionRequest } from '../../../../lambdas/protocols/audio/transcription-request.ts';
import { transcription } from '../../../support/audio-samples.ts';
import { data } from '../../core/catalog/sample-data.ts';

const model = loadCatalog(data([transcription()])).entries.find(
  (entry): entry is TranscriptionModel => entry.kind === 'transcription',
);

const mp3 = Buffer.from('ID3\x04');
const recording = (changes: Partial<FormFile> = {}): FormFile => ({
  field: 'file',
  fileName: 'a.mp3',
  mediaType: 'audio/mpeg',
  bytes: mp3,
  ...changes,
});

const formWith = (fields: Readonly<Record<string, string>> = {}, files: readonly FormFile[] = [recording()]): Form => ({
  fields: Object.entries({ model: 'scribe-1', ...fields }).map(([name, value]) => ({ name, value })),
  files,
});

const read = (form: Form) => {
  if (!model) throw new Error('no model');
  const { order, format } = toTranscriptionRequest(form);
  return { modelId: order.modelId, format, ...order.validateFor(model) };
};

const refused = (form: Form): readonly [string | null, string] => {
  try {
    read(form);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request_error') return [error.param, error.message];
    throw error;
  }
  throw new Error('not rejected');
};

test('AUD-1 a file and a model are enough', () => {
  expect(read(formWith())).toEqual({
    modelId: 'scribe-1',
    format: 'json',
    file: { name: 'a.mp3', mediaType: 'audio/mpeg', bytes: mp3 },
    language: undefined,
    prompt: undefined,
    temperature: undefined,
  });
});

test('AUD-1 every other field reaches the provider unchanged', () => {
  const fields = {
    language: 'pt-BR',
    prompt: 'Names: Zoë',
    temperature: '0.20',
    response_format: 'text',
    stream: 'false',
  };
  expect(read(formWith(fields))).toMatchObject({
    language: 'pt-BR',
    prompt: 'Names: Zoë',
    temperature: '0.20',
    format: 'text',
  });
});

test.for([
  ['model', ''],
  ['language', 'english language'],
  ['language', `en-${'abcdefgh-'.repeat(4)}x`],
  ['prompt', 'x'.repeat(4_001)],
  ['prompt', '👋'.repeat(4_001)],
  ['temperature', '1.1'],
  ['temperature', 'NaN'],
  ['stream', 'True'],
  ['stream', '1'],
  ['chunking_strategy', 'auto'],
  ['include[]', 'logprobs'],
  ['known_speaker_names[]', 'a'],
] as const)('AUD-1 %s of %j gets an error that names it', ([field, value]) => {
  const [param, message] = refused(formWith({ [field]: value }));
  expect(param).toBe(field);
  expect(message).toMatch(new RegExp(`^${field.replaceAll(/[[\]]/g, '\\$&')}: `));
});

test('AUD-1 empty fields of a form count as absent', () => {
  const names = ['language', 'prompt', 'temperature', 'response_format', 'stream', 'timestamp_granularities[]'];
  const empty = Object.fromEntries(names.map((name) => [name, '']));
  expect(read(formWith(empty))).toEqual(read(formWith()));
});

test.for(['False', 'false', '0'])('AUD-1 the text %s in stream means false', (stream) => {
  expect(read(formWith({ stream })).format).toBe('json');
});

test.for(['verbose_json', 'srt', 'vtt', 'diarized_json'])(
  'AUD-1 the format %s is rejected with the supported ones',
  (format) => {
    const [param, message] = refused(formWith({ response_format: format }));
    expect(param).toBe('response_format');
    expect(message).toMatch(new RegExp(`"${format}".*"json", "text"`));
  },
);

test.for(['timestamp_granularities[]', 'timestamp_granularities'])('AUD-1 %s is rejected', (field) => {
  expect(refused(formWith({ [field]: 'word' }))).toEqual([field, expect.stringContaining('timestamps')]);
});

test('AUD-1 values at their limits are accepted', () => {
  expect(read(formWith({ prompt: '👋'.repeat(4_000) })).prompt).toHaveLength(8_000);
  expect(read(formWith({ temperature: '1' })).temperature).toBe('1');
  const long = 'abc-abcdefgh-abcdefgh-abcdefgh-abcd';
  expect(read(formWith({ language: long })).language).toBe(long);
});

test.for([
  ['no file', []],
  ['two files', [recording(), recording()]],
  ['0 bytes', [recording({ bytes: Buffer.alloc(0) })]],
  ['an unknown extension and unknown bytes', [recording({ fileName: 'a.txt', bytes: Buffer.from('hello') })]],
  ['no name and unknown bytes', [recording({ fileName: '', bytes: Buffer.from('hello') })]],
  ['a format that the entry lacks', [recording({ fileName: 'a.flac', bytes: Buffer.from('fLaC') })]],
] as const)('AUD-1 %s is rejected at file', ([, files]) => {
  expect(refused(formWith({}, files))).toEqual(['file', expect.stringMatching(/^file: /)]);
});

test('AUD-1 a file in another field and a file sent as text have their own messages', () => {
  expect(refused(formWith({}, [recording({ field: 'audio' })]))).toEqual(['audio', expect.stringContaining('"file"')]);
  expect(refused(formWith({ file: 'a.mp3' }, []))).toEqual(['file', expect.stringContaining('as one file')]);
});

test('AUD-1 a repeated field is rejected', () => {
  const { fields, files } = formWith({ prompt: 'a' });
  expect(refused({ files, fields: [...fields, { name: 'prompt', value: 'b' }] })[0]).toBe('prompt');
});

test.for([
  ['Song.MP3', mp3, 'Song.MP3'],
  ['a.b.m4a', Buffer.from('hello'), 'a.b.m4a'],
  ['recording', mp3, 'recording.mp3'],
  ['voice.bin', mp3, 'voice.bin.mp3'],
  ['', mp3, 'audio.mp3'],
] as const)('AUD-1 a file called %j gets a name that the provider knows', ([fileName, bytes, sent]) => {
  expect(read(formWith({}, [recording({ fileName, bytes })])).file.name).toBe(sent);
});

test('ERR-8 the name of an unknown field is shown truncated if it is long', () => {
  const [param, message] = refused(formWith({ ['x'.repeat(5_000)]: '1' }));
  expect([param?.length, message.length < 300]).toEqual([101, true]);
});
