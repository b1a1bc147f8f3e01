import { expect, test } from 'vitest';
import type { Speech } from '../../../../lambdas/core/audio/speak.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { recordedAmount } from '../../../../lambdas/core/ledger/audit.ts';
import { CHARACTER, speech } from '../../../support/audio-samples.ts';
import { fails } from '../../../support/memory/faults.ts';
import { upstream } from '../catalog/sample-data.ts';
import { createAudioWorld, listen, pieces, refusal } from './audio-world.ts';

const broken = new GatewayError('upstream_error', 'broke');

const streamOf = async (answer: Promise<{ readonly kind: string } | Speech>): Promise<Speech> => {
  const found = await answer;
  if (!('stream' in found)) throw new Error('unexpected dry run');
  return found;
};

type Options = NonNullable<Parameters<typeof createAudioWorld>[0]>;

const heard = async (options: Options = {}, text = 'Hello') => {
  const world = await createAudioWorld(options);
  const seen: string[] = [];
  const { stream } = await streamOf(world.speak(text));
  await world.clock.until(stream.pump(listen(seen)));
  return { ...world, seen };
};

test('AUD-3 and BILL-3 speech is charged by the Unicode characters of its text', async () => {
  const world = await heard({}, 'Zoë 👋🏽');
  const cost = 6n * CHARACTER;
  const [record] = world.records();
  expect(record).toMatchObject({ amountPicos: cost, usage: { character: 6 }, prices: { character: CHARACTER } });
  expect(record && recordedAmount(record)).toBe(cost);
  const { spentPicos, holds } = await world.account();
  expect([spentPicos, holds.size, world.clock.waiting, world.state.closed]).toEqual([cost, 0, 0, 1]);
  expect([world.notices, world.reports]).toEqual([[], ['voice-1 succeeded']]);
});

test('BILL-1 the hold equals the cost', async () => {
  const world = await createAudioWorld({ usd: '0.000075' });
  expect(await refusal(world.speak('Hello!'))).toMatchObject({ code: 'insufficient_balance' });
  expect(await world.speak('Hello', { dryRun: true })).toMatchObject({ kind: 'dry_run', holdPicos: 5n * CHARACTER });
  expect((await world.speak('Hello')).kind).toBe('stream');
});

test('BILL-14 the last piece waits for the charge record, which is applied before the end', async () => {
  const seen: string[] = [];
  const world = await createAudioWorld({
    fault: (method) => {
      seen.push(method);
      return undefined;
    },
  });
  const { stream } = await streamOf(world.speak('Hello'));
  await stream.pump(listen(seen));
  const cost = 5n * CHARACTER;
  expect(seen).toEqual(['hold', 'write one', 'write two', 'putRecord', 'finish three', 'apply', `close ${cost}`]);
});

test('BILL-14 a response of one piece waits for the charge as well', async () => {
  expect((await heard({ sound: () => pieces('', 'all', '') })).seen).toEqual(['finish all', `close ${5n * CHARACTER}`]);
});

test.for([
  ['fails immediately', () => pieces(broken), 'upstream_error', 'failed'],
  ['has no byte', () => pieces(), 'upstream_error', 'unknown'],
  ['has only empty pieces', () => pieces('', ''), 'upstream_error', 'unknown'],
] as const)('ERR-4 speech that %s returns its error and is not charged', async ([, sound, code, outcome]) => {
  const world = await createAudioWorld({ sound });
  expect(await refusal(world.speak('Hello'))).toMatchObject({ code });
  const { spentPicos, holds } = await world.account();
  expect([spentPicos, holds.size, world.clock.waiting, world.state.closed]).toEqual([0n, 0, 0, 1]);
  expect(world.records()).toMatchObject([{ outcome: 'released', reason: code }]);
  expect(world.reports).toEqual([expect.stringMatching(` ${outcome}$`)]);
});

test('BILL-9 speech that fails after its first piece releases its hold and ends with an error', async () => {
  const world = await heard({ sound: () => pieces('one', 'two', broken) });
  expect(world.seen).toEqual(['write one', 'fail upstream_error', 'close undefined']);
  const { spentPicos, holds } = await world.account();
  expect([spentPicos, holds.size, world.clock.waiting, world.state.closed]).toEqual([0n, 0, 0, 1]);
  expect(world.reports).toEqual(['voice-1 failed']);
});

test('BILL-14 speech ends with an error if neither the charge nor the outbox entry is written', async () => {
  const world = await heard({ noNotes: true, fault: (method) => (method === 'putRecord' ? fails : undefined) });
  expect(world.seen).toEqual(['write one', 'write two', 'fail service_unavailable', 'close undefined']);
  expect((await world.account()).spentPicos).toBe(0n);
});

test('LIM-6 speech that stops arriving times out, and its upstream request is aborted', async () => {
  const world = await createAudioWorld({
    sound: async function* ({ signal }) {
      yield Buffer.from('one');
      yield Buffer.from('two');
      yield await new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  });
  const seen: string[] = [];
  const { stream } = await streamOf(world.speak('Hello'));
  const pumping = stream.pump(listen(seen));
  await world.clock.flush();
  await world.clock.advance(600_000);
  await pumping;
  expect(seen).toEqual(['write one', 'fail upstream_timeout', 'close undefined']);
  expect((await world.account()).spentPicos).toBe(0n);
});

/** Audio that arrives until it stalls, and then waits for the deadline of its call. */
const stalled = (...texts: readonly string[]): Options['sound'] =>
  async function* ({ signal }) {
    yield* pieces(...texts);
    yield await new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };

const cutAfter = async (texts: readonly string[], options: Options = {}) => {
  const world = await createAudioWorld({ ...options, sound: stalled(...texts) });
  const pumped = world
    .speak('Hello')
    .then((spoken) => ('stream' in spoken ? spoken.stream.pump(listen([])) : undefined))
    .catch(() => undefined);
  await world.clock.flush();
  await world.clock.advance(600_000);
  await pumped;
  return world;
};

const PRICE = 5n * CHARACTER;

test('BILL-21 a deadline after speech was sent costs the whole text and uses the allowance', async () => {
  const world = await cutAfter(['one', 'two']);
  expect(world.records()).toMatchObject([
    { outcome: 'released', amountPicos: 0n, uncollectedPicos: PRICE, usesAllowance: true, reason: 'upstream_timeout' },
  ]);
  expect((await world.account()).uncollected).toEqual({ day: '2026-11-01', picos: PRICE });
});

test.for([[[]], [['one']]])('BILL-21 a deadline after %j, before speech was sent, is silent', async ([texts]) => {
  const world = await cutAfter(texts ?? []);
  expect(world.records()).toMatchObject([
    { uncollectedPicos: PRICE, silentDeadline: true, reason: 'upstream_timeout' },
  ]);
  expect((await world.account()).uncollected).toMatchObject({ picos: PRICE, freePicos: PRICE });
});

test('BILL-21 speech without audio costs the whole text and uses the allowance', async () => {
  const world = await createAudioWorld({ sound: () => pieces() });
  await refusal(world.speak('Hello'));
  expect(world.records()).toMatchObject([{ reason: 'upstream_error', uncollectedPicos: PRICE, usesAllowance: true }]);
});

test('BILL-21 a failure of the provider after speech was sent is only counted', async () => {
  const world = await heard({ sound: () => pieces('one', 'two', broken) });
  expect(world.records()).toMatchObject([{ reason: 'upstream_error', uncollectedPicos: PRICE }]);
  expect(world.records()[0]).not.toHaveProperty('usesAllowance');
  expect((await world.account()).uncollected).toBeUndefined();
});

test('BILL-21 an account that used its allowance gets no speech until the next day', async () => {
  const world = await cutAfter(['one', 'two'], { uncollectedDailyPicos: 0n });
  expect(await refusal(world.speak('Hello'))).toMatchObject({
    code: 'rate_limit_exceeded',
    limit: 'uncollected',
    retryAfterSeconds: 300,
  });
  expect(world.log.filter((call) => call === 'send')).toHaveLength(1);
  expect(await world.speak('Hello', { dryRun: true })).toMatchObject({ kind: 'dry_run' });
  await world.clock.advance(86_400_000);
  expect((await world.speak('Hello')).kind).toBe('stream');
});

test('BILL-4 a text that would cost more than 100 USD is rejected', async () => {
  const dear = speech({ prices: [{ unit: '1M_characters', rates: { input: '25000000' } }] });
  const world = await createAudioWorld({ models: [dear] });
  expect(await refusal(world.speak('Hello'))).toMatchObject({ code: 'request_budget_exceeded', param: 'input' });
  expect((await world.speak('Hell')).kind).toBe('stream');
});

test('AUD-2 a voice whose upstream is disabled gets 503 model_unavailable', async () => {
  const off = speech({ upstreams: [upstream({ wire: 'openai_audio', enabled: false })] });
  const world = await createAudioWorld({ models: [off] });
  expect(await refusal(world.speak('Hello'))).toMatchObject({ code: 'model_unavailable', status: 503 });
});
