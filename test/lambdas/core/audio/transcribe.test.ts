import { expect, test } from 'vitest';
import type { AudioUsage } from '../../../../lambdas/core/audio/audio-wire.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { recordedAmount } from '../../../../lambdas/core/ledger/audit.ts';
import { audioTokens, SECOND, tokenTranscription, transcription, wavOf } from '../../../support/audio-samples.ts';
import { provider, upstream } from '../catalog/sample-data.ts';
import { createAudioWorld, refusal, transcript } from './audio-world.ts';

const hearing = (counted: AudioUsage | undefined) => ({ hear: async () => transcript(counted) });
const used = (text: number, audio: number, output: number): AudioUsage => ({
  kind: 'tokens',
  tokens: audioTokens(text, audio, output),
});

test('AUD-1 and BILL-3 a recording is charged by its whole seconds, rounded up', async () => {
  const world = await createAudioWorld(hearing({ kind: 'duration', seconds: 2.1 }));
  const answered = await world.transcribe({ endUser: 'someone' });
  expect(answered).toMatchObject({ kind: 'answer', transcript: { text: 'Hi' }, receipt: { costPicos: 3n * SECOND } });
  expect(world.log).toEqual(['hold', 'send', 'putRecord', 'apply']);
  const [record] = world.records();
  expect(record).toMatchObject({ amountPicos: 3n * SECOND, usage: { second: 3 }, prices: { second: SECOND } });
  expect(record).toMatchObject({ endUser: 'someone', model: 'scribe-1' });
  expect(record && recordedAmount(record)).toBe(3n * SECOND);
  expect([world.notices, world.reports, world.clock.waiting]).toEqual([[], ['scribe-1 succeeded'], 0]);
});

test('AUD-1 and BILL-11 text tokens and audio tokens have separate prices', async () => {
  const world = await createAudioWorld(hearing(used(5, 21, 7)));
  await world.transcribe({ modelId: 'scribe-2', prompt: 'Names' });
  const cost = 5n * 2_000_000n + 21n * 6_000_000n + 7n * 10_000_000n;
  const [record] = world.records();
  expect(record).toMatchObject({
    amountPicos: cost,
    usage: { input: 5, audioInput: 21, output: 7 },
    prices: { input: 2_000_000n, audioInput: 6_000_000n, output: 10_000_000n },
  });
  expect(record && recordedAmount(record)).toBe(cost);
});

test.for([
  ['scribe-1', Buffer.from('ID3'), 600n * SECOND],
  ['scribe-1', wavOf(2.5), 3n * SECOND],
  ['scribe-1', wavOf(700, { rate: 100, bits: 8 }), 600n * SECOND],
  ['scribe-2', Buffer.from('ID3'), 6n * 2_000_000n + 1_000n * 6_000_000n + 200n * 10_000_000n],
  ['scribe-2', wavOf(2.5), 6n * 2_000_000n + 30n * 6_000_000n + 200n * 10_000_000n],
] as const)(
  'BILL-5 and BILL-16 the hold for %s covers the longest possible recording',
  async ([modelId, file, hold]) => {
    const world = await createAudioWorld();
    const estimate = await world.transcribe({ modelId, file, prompt: 'Żółw'.slice(0, 3), dryRun: true });
    expect(estimate).toMatchObject({ kind: 'dry_run', holdPicos: hold, outputTokensMax: undefined });
    expect(world.log).toEqual([]);
  },
);

test('BILL-1 the hold equals the amount that the dry run returns', async () => {
  const world = await createAudioWorld({ usd: '0.059' });
  expect(await refusal(world.transcribe())).toMatchObject({ code: 'insufficient_balance' });
  expect((await world.transcribe({ file: wavOf(3) })).kind).toBe('answer');
});

test.for([
  ['scribe-1', { kind: 'duration', seconds: 2_401 }, 2_400n * SECOND],
  ['scribe-2', used(0, 4_001, 0), 4_000n * 6_000_000n],
  ['scribe-2', used(0, 0, 801), 800n * 10_000_000n],
  ['scribe-2', used(1_001, 0, 0), 1_000n * 2_000_000n],
] as const)('BILL-7 %s: an implausible count is charged at its bound', async ([modelId, counted, cost]) => {
  const world = await createAudioWorld(hearing(counted));
  await world.transcribe({ modelId });
  expect(world.records()).toMatchObject([{ amountPicos: cost, implausible: true }]);
  expect(world.notices).toContain('usage_implausible');
});

test.for([
  ['scribe-1', { kind: 'duration', seconds: 600 }, 600n * SECOND],
  ['scribe-2', used(1_000, 1_000, 200), 1_000n * 2_000_000n + 1_000n * 6_000_000n + 200n * 10_000_000n],
] as const)(
  "BILL-7 %s: a file that seems short is charged by the provider's count",
  async ([modelId, counted, cost]) => {
    const world = await createAudioWorld(hearing(counted));
    await world.transcribe({ modelId, file: wavOf(1) });
    const [record] = world.records();
    expect(record).toMatchObject({ amountPicos: cost, overage: true });
    expect(record).not.toHaveProperty('implausible');
  },
);

test.for([
  ['scribe-1', undefined],
  ['scribe-1', used(1, 1, 1)],
  ['scribe-2', undefined],
  ['scribe-2', { kind: 'duration', seconds: 3 }],
  ['scribe-1', { kind: 'duration', seconds: 0 }],
  ['scribe-2', used(0, 0, 0)],
] as const)('BILL-10 %s: a response without the billed count is free and reported', async ([modelId, counted]) => {
  const world = await createAudioWorld(hearing(counted));
  expect((await world.transcribe({ modelId })).kind).toBe('answer');
  expect(world.records()).toMatchObject([{ outcome: 'settled', amountPicos: 0n, reason: 'usage_missing' }]);
  expect([world.notices, world.reports]).toEqual([
    ['usage_missing'],
    expect.arrayContaining([`${modelId} without usage`]),
  ]);
});

test('AUD-1 and CAT-6 an unknown model gets 404 with the list of available models', async () => {
  const world = await createAudioWorld();
  const error = await refusal(world.transcribe({ modelId: 'whisper-1' }));
  expect(error).toMatchObject({ code: 'model_not_found', status: 404, param: 'model' });
  expect(error instanceof GatewayError && error.message).toMatch(/whisper-1.*scribe-1, scribe-2\.$/);
});

test('GEN-11 a model of another kind is rejected with the endpoint it belongs to', async () => {
  const error = await refusal((await createAudioWorld()).transcribe({ modelId: 'voice-1' }));
  expect(error).toMatchObject({ code: 'invalid_request_error', param: 'model' });
  expect(error instanceof GatewayError && error.message).toContain('/v1/audio/speech');
});

test.for([
  ['the upstream', { models: [transcription({ upstreams: [upstream({ wire: 'openai_audio', enabled: false })] })] }],
  ['the provider', { providers: [provider({ enabled: false })] }],
] as const)('AUD-2 with %s disabled in the catalog, a request gets 503 model_unavailable', async ([, options]) => {
  const world = await createAudioWorld(options);
  expect(world.deps.catalog.find('scribe-1', world.clock.now())).toBeDefined();
  const error = await refusal(world.transcribe());
  expect(error).toMatchObject({ code: 'model_unavailable', status: 503, retryAfterSeconds: undefined });
  expect(world.log).toEqual([]);
});

test('AUD-2 a catalog entry without a bound for the hold is not available', async () => {
  const unbound = tokenTranscription({ transcription: { secondsMax: 100, formats: ['mp3'] } });
  const error = await refusal((await createAudioWorld({ models: [unbound] })).transcribe({ modelId: 'scribe-2' }));
  expect(error).toMatchObject({ code: 'model_unavailable' });
});

test('BILL-4 a recording that could cost more than 100 USD is rejected', async () => {
  const dear = transcription({ prices: [{ unit: 'audio_minute', rates: { perMinute: '10.002' } }] });
  const world = await createAudioWorld({ models: [dear] });
  expect(await refusal(world.transcribe())).toMatchObject({ code: 'request_budget_exceeded', param: 'file' });
  const just = transcription({ prices: [{ unit: 'audio_minute', rates: { perMinute: '9.996' } }] });
  expect((await (await createAudioWorld({ models: [just] })).transcribe()).kind).toBe('answer');
});

test('BILL-2 a rejection by the provider costs nothing', async () => {
  const error = new GatewayError('upstream_error', 'no');
  const world = await createAudioWorld({ hear: () => Promise.reject(error) });
  expect(await refusal(world.transcribe())).toBe(error);
  expect(world.records()).toMatchObject([{ outcome: 'released', amountPicos: 0n, reason: 'upstream_error' }]);
  expect([(await world.account()).holds.size, world.clock.waiting, world.reports]).toEqual([0, 0, ['scribe-1 failed']]);
});

const silent: NonNullable<Parameters<typeof createAudioWorld>[0]>['hear'] = ({ signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

test('BILL-21 a deadline costs the length that the hold covers, and counts toward the limit of a day', async () => {
  const world = await createAudioWorld({ hear: silent, uncollectedDailyPicos: 0n });
  const file = wavOf(2.5);
  const answer = refusal(world.transcribe({ file }));
  await world.clock.flush();
  await world.clock.advance(600_000);
  expect(await answer).toMatchObject({ code: 'upstream_timeout' });
  expect(world.records()[0]).toMatchObject({ uncollectedPicos: 3n * SECOND, silentDeadline: true, amountPicos: 0n });
  expect((await world.account()).uncollected).toMatchObject({ picos: 3n * SECOND, freePicos: 3n * SECOND });
  expect(await world.clock.until(refusal(world.transcribe({ file })))).toMatchObject({
    status: 429,
    limit: 'uncollected',
  });
  expect(await world.transcribe({ file, dryRun: true })).toMatchObject({ kind: 'dry_run' });
});

test('BILL-21 a transcription that the provider fails costs nothing', async () => {
  for (const code of ['upstream_error', 'upstream_timeout'] as const) {
    const world = await createAudioWorld({ hear: () => Promise.reject(new GatewayError(code, 'no')) });
    await refusal(world.transcribe());
    expect(world.records()[0]).not.toHaveProperty('uncollectedPicos');
  }
});

test('LIM-6 a provider that sends nothing times out after 600 s', async () => {
  const world = await createAudioWorld({ hear: silent });
  const answer = refusal(world.transcribe());
  await world.clock.flush();
  await world.clock.advance(600_000);
  expect(await answer).toMatchObject({ code: 'upstream_timeout' });
  expect((await world.account()).spentPicos).toBe(0n);
});
