import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { formatUsd } from '../../../../lambdas/core/money/usd.ts';
import { createUpstreamHttp, type UpstreamHttp } from '../../../../lambdas/providers/upstream-http.ts';
import { type Simulator, startSimulator } from '../../../../lib/local/upstreams/server.ts';
import { CHARACTER, SECOND, speech, tokenTranscription, transcription, wavOf } from '../../../support/audio-samples.ts';
import { createAudioService } from '../../../support/audio-service.ts';
import { fails, losesReply } from '../../../support/memory/faults.ts';
import { upstream } from '../../core/catalog/sample-data.ts';
import { inPieces } from '../../providers/openai/stream-reading.ts';

let vendor: Simulator;
beforeAll(async () => {
  vendor = await startSimulator();
});
afterAll(() => vendor.stop());
beforeEach(() => vendor.reset());

const wire = (model: string) => [upstream({ wire: 'openai_audio', model })];

/** In front of the simulated vendor. */
const simulated = () =>
  createAudioService({
    http: createUpstreamHttp(),
    baseUrl: `${vendor.url}/v1`,
    models: [
      transcription({ upstreams: wire('gpt-transcribe') }),
      tokenTranscription({ upstreams: wire('gpt-4o-transcribe') }),
      speech({
        upstreams: wire('tts-1'),
        speech: { voices: ['alloy'], formats: ['mp3', 'wav', 'pcm'], maxCharacters: 99 },
      }),
    ],
  });

const wavFile = (seconds: number) => new File([new Uint8Array(wavOf(seconds))], 'a.wav', { type: 'audio/wav' });

const errorOf = ({ status, text }: { readonly status: number; readonly text: string }) => [
  status,
  JSON.parse(text).error.code,
];

test('AUD-1 and BILL-15 a recording is heard, charged to the pico and told of', async () => {
  const service = await simulated();
  const answer = await service.transcribe({}, wavFile(2.5));
  expect([answer.status, JSON.parse(answer.text)]).toEqual([
    200,
    { text: 'This is a simulated transcript of a.wav, 40044 bytes.', usage: { type: 'duration', seconds: 2.5 } },
  ]);
  const cost = 3n * SECOND;
  const { spentPicos, availablePicos, holds } = await service.account();
  expect([spentPicos, holds.size, service.clock.waiting]).toEqual([cost, 0, 0]);
  expect(answer.headers).toMatchObject({
    'content-type': expect.stringMatching(/^application\/json/),
    'x-service-cost-usd': formatUsd(cost),
    'x-service-balance-usd': formatUsd(availablePicos),
  });
  expect(service.finished).toMatchObject([{ status: 200, model: 'scribe-1', costPicos: cost }]);
});

test('AUD-1 as text the answer is the text alone, and charged all the same', async () => {
  const service = await simulated();
  const answer = await service.transcribe({ model: 'scribe-2', response_format: 'text', prompt: 'Hi' }, wavFile(1));
  expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([
    200,
    'This is a simulated transcript of a.wav, 16044 bytes.',
    'text/plain; charset=utf-8',
  ]);
  const [record] = service.records();
  expect(record?.usage).toMatchObject({ input: 1, audioInput: 10 });
  expect((await service.account()).spentPicos).toBe(record?.amountPicos);
  expect(vendor.requests.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual([expect.stringContaining('json')]);
});

test('AUD-3 a text is spoken, charged to the pico, and its price is in no header', async () => {
  const service = await simulated();
  const answer = await service.speak({ response_format: 'wav' });
  expect([answer.status, answer.headers['content-type'], answer.bytes.subarray(0, 4).toString()]).toEqual([
    200,
    'audio/wav',
    'RIFF',
  ]);
  expect(answer.bytes.readUInt32LE(40)).toBe(answer.bytes.length - 44);
  expect(answer.headers).not.toHaveProperty('content-length');
  expect(answer.headers).not.toHaveProperty('x-service-cost-usd');
  const { spentPicos, holds } = await service.account();
  expect([spentPicos, holds.size, service.clock.waiting]).toEqual([5n * CHARACTER, 0, 0]);
  expect(service.finished).toMatchObject([{ status: 200, model: 'voice-1', costPicos: 5n * CHARACTER }]);
});

test('AUD-3 megabytes arrive as the vendor sent them', async () => {
  const service = await simulated();
  const answer = await service.speak({ input: '[[bytes 3000001]] hello' });
  expect([answer.status, answer.bytes.length, answer.headers['content-type']]).toEqual([200, 3_000_001, 'audio/mpeg']);
});

test.for([
  ['[[status 500]]', 502, 'upstream_error'],
  ['[[status 503]]', 503, 'service_unavailable'],
  ['[[status 429 retry-after 7]]', 429, 'upstream_capacity'],
  ['[[status 400]]', 400, 'invalid_request_error'],
  ['[[vendor-401]]', 503, 'service_unavailable'],
  ['[[vendor-quota]]', 503, 'service_unavailable'],
  ['[[vendor-404]]', 503, 'model_unavailable'],
  ['[[reset]]', 502, 'upstream_error'],
  ['[[garbage]]', 502, 'upstream_error'],
] as const)('BILL-2 a vendor with %s is a true error and costs nothing', async ([marker, status, code]) => {
  const service = await simulated();
  expect(errorOf(await service.transcribe({ prompt: marker }))).toEqual([status, code]);
  expect(errorOf(await service.speak({ input: marker }))).toEqual([status, code]);
  const { spentPicos, holds } = await service.account();
  expect([spentPicos, holds.size, service.clock.waiting]).toEqual([0n, 0, 0]);
});

test('ERR-4 sound that is cut before its first byte is a true error', async () => {
  const service = await simulated();
  expect(errorOf(await service.speak({ input: '[[cut 0]]' }))).toEqual([502, 'upstream_error']);
  expect(errorOf(await service.speak({ input: '[[bytes 0]]' }))).toEqual([502, 'upstream_error']);
  expect((await service.account()).spentPicos).toBe(0n);
});

test('BILL-9 a transcript that breaks off is an error and costs nothing', async () => {
  const service = await simulated();
  expect(errorOf(await service.transcribe({ prompt: '[[cut 0]]' }))).toEqual([502, 'upstream_error']);
  expect((await service.account()).spentPicos).toBe(0n);
});

test('BILL-9 behind a function URL sound that is cut makes the answer fail, uncharged', async () => {
  const service = await simulated();
  await expect(service.speak({ input: '[[pause 20]] [[cut 3]] [[bytes 90000]]' })).rejects.toThrow(/premature/i);
  const { spentPicos, holds } = await service.account();
  expect([spentPicos, holds.size]).toEqual([0n, 0]);
  expect(service.finished).toMatchObject([{ status: 200, errorCode: 'upstream_error' }]);
});

test('BILL-10 a transcript without usage is free', async () => {
  const service = await simulated();
  const answer = await service.transcribe({ model: 'scribe-2', prompt: '[[no-usage]]' });
  expect([answer.status, answer.headers['x-service-cost-usd']]).toEqual([200, '0']);
});

test('BILL-7 a count of the vendor that cannot be true is charged at its bound', async () => {
  const service = await simulated();
  await service.transcribe({ prompt: '[[usage-prompt 100000]]' });
  expect(service.records()).toMatchObject([{ amountPicos: 2_400n * SECOND, implausible: true }]);
});

test('IDEM-5 an Idempotency-Key is refused on both', async () => {
  const service = await simulated();
  const headers = { 'idempotency-key': 'k' };
  expect(errorOf(await service.transcribe({}, undefined, headers))).toEqual([400, 'idempotency_not_supported']);
  expect(errorOf(await service.speak({}, headers))).toEqual([400, 'idempotency_not_supported']);
  expect(vendor.requests).toEqual([]);
});

test('BILL-16 both tell what they would hold, and do nothing', async () => {
  const service = await simulated();
  const headers = { 'x-service-dry-run': 'true' };
  expect(JSON.parse((await service.transcribe({}, wavFile(2), headers)).text)).toEqual({
    object: 'dry_run',
    model: 'scribe-1',
    hold_usd: formatUsd(2n * SECOND),
    max_tokens: null,
    prices: { second: formatUsd(SECOND) },
  });
  expect(JSON.parse((await service.speak({}, headers)).text)).toEqual({
    object: 'dry_run',
    model: 'voice-1',
    hold_usd: formatUsd(5n * CHARACTER),
    max_tokens: null,
    prices: { character: formatUsd(CHARACTER) },
  });
  expect([vendor.requests, service.records()]).toEqual([[], []]);
});

test('AUD-1 whisper-1 is 404 and names what is served', async () => {
  const service = await simulated();
  const answer = await service.transcribe({ model: 'whisper-1' });
  expect(errorOf(answer)).toEqual([404, 'model_not_found']);
  expect(JSON.parse(answer.text).error.message).toContain('scribe-1, scribe-2');
});

test('ERR-5 neither a text nor a prompt nor a key is told to the log', async () => {
  const service = await simulated();
  await service.speak({ input: 'canary [[status 500]]' });
  await service.transcribe({ prompt: 'canary [[status 500]]' });
  expect(service.finished).toHaveLength(2);
  expect(service.finished.map((summary) => Object.values(summary).join(' ')).join(' ')).not.toMatch(/canary/);
});

const played =
  (sent: string[]): UpstreamHttp =>
  async ({ url }) => {
    sent.push(url);
    return {
      status: 200,
      headers: {},
      body: inPieces(url.endsWith('speech') ? 'some sound' : '{"text":"Hi","usage":{"type":"duration","seconds":2}}'),
      discard: () => undefined,
    };
  };

const faults = (['hold', 'putRecord', 'apply'] as const).flatMap((method) =>
  [fails, losesReply].flatMap((fault) => [
    { name: `${method} ${fault.kind} once`, method, fault, turns: 1 },
    { name: `${method} ${fault.kind} always`, method, fault, turns: Number.POSITIVE_INFINITY },
  ]),
);

test.for(faults)(
  'BILL-14 $name: what is answered is charged once, what fails is not',
  async ({ method, fault, turns }) => {
    for (const path of ['speak', 'transcribe'] as const) {
      const sent: string[] = [];
      const service = await createAudioService({
        http: played(sent),
        fault: (called, turn) => (called === method && turn < turns ? fault : undefined),
      });
      const answer = await service.until(service[path]());
      const down = method === 'hold' && turns > 1;
      expect([path, answer.status, await service.charges(), sent.length]).toEqual(
        down ? [path, 503, 0, 0] : [path, 200, 1, 1],
      );
    }
  },
);
