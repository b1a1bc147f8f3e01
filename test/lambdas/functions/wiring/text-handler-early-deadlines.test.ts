import { expect, test } from 'vitest';
import { readError } from '../../../support/hostile-oracle.ts';
import { rowsOfTier } from '../../../tiers.ts';
import {
  alike,
  begunEarly,
  free,
  GRACE_SECONDS,
  inJson,
  inStreams,
  keepAliveOf,
  once,
  promptly,
  shapeOf,
} from './early-scene.ts';
import { createSilentService, edge, type SilentService, textOf } from './silent-service.ts';
import { type CustomerName, customers } from './silent-vendor.ts';

const refusedAt = async (service: SilentService, name: CustomerName, seconds: number) => {
  const { heard, done } = await service.ask(customers[name], {});
  await service.pass(seconds - 1);
  expect(heard.head).toBeUndefined();
  const { expiries } = await service.money();
  await service.pass(1);
  expect(heard.head?.statusCode).toBe(504);
  await done;
  expect(readError({ status: 504, body: textOf(heard) }, 'any')).toMatchObject({
    code: 'upstream_timeout',
    message: `The provider did not respond within ${seconds} s. Nothing was charged. Retry the request.`,
  });
  expect(await service.money()).toEqual(free);
  expect(once(service)).toMatchObject({ status: 504, errorCode: 'upstream_timeout' });
  expect(service.clock.waiting).toBe(0);
  return expiries;
};

test('LIM-6 a transcript as text has 105 s behind the edge, and its hold lasts 105 s plus the grace', async () => {
  expect(await refusedAt(await createSilentService(), 'transcription as text', 105)).toEqual([105 + GRACE_SECONDS]);
});

test('LIM-6 speech has 105 s to start behind the edge, and its hold lasts the full time limit', async () => {
  expect(await refusedAt(await createSilentService(), 'speech', 105)).toEqual([600 + GRACE_SECONDS]);
});

test('LIM-6 AUD-3 speech that keeps arriving is complete and charged after 400 s behind the edge', async () => {
  const service = await createSilentService();
  const body = ['ID3', 'one', 100, 'two', 100, 'three', 100, 'four'];
  const { heard, done } = await service.ask(customers.speech, { seconds: 100, body });
  await service.pass(400);
  await done;
  expect(textOf(heard)).toBe('ID3onetwothreefour');
  const { spentPicos } = await promptly('speech');
  expect(spentPicos).toBeGreaterThan(0n);
  expect(await service.money()).toEqual({ spentPicos, expiries: [] });
  expect(once(service)).not.toHaveProperty('errorCode');
  expect(service.clock.waiting).toBe(0);
});

test('LIM-6 speech that has started is cut off after 105 s of silence and not charged', async () => {
  const service = await createSilentService();
  const body = ['ID3', 'one', 'two', 200, 'three'];
  const { heard, done } = await service.ask(customers.speech, { seconds: 50, body });
  // No server closes the connection here, so the body fails.
  const broken = expect(done).rejects.toThrow();
  await service.pass(50 + 104);
  expect(heard.head?.statusCode).toBe(200);
  expect(heard.ended).toBe(false);
  await service.pass(1);
  expect(once(service)).toMatchObject({ status: 200, errorCode: 'upstream_timeout' });
  await broken;
  expect(await service.money()).toEqual(free);
});

const trueStatuses = { ...edge, commitsJson: false };

test.for(rowsOfTier(inJson, shapeOf))('ERR-6 %s has its true status at 110 s without an early start', async (name) => {
  expect(await refusedAt(await createSilentService(trueStatuses), name, 110)).toEqual([110 + GRACE_SECONDS]);
});

test.for(rowsOfTier(inJson, shapeOf))(
  'ERR-6 BILL-15 %s, ready at 109 s, has its cost without an early start',
  async (name) => {
    const prompt = await promptly(name);
    const service = await createSilentService(trueStatuses);
    const { heard, done } = await service.ask(customers[name], { seconds: 109 });
    await service.pass(109);
    await done;
    expect(alike(textOf(heard))).toBe(prompt.text);
    expect(heard.head?.headers).toHaveProperty('x-service-cost-usd');
  },
);

test.for(rowsOfTier(inStreams, shapeOf))(
  'CHAT-11 %s starts early, whatever the setting for plain responses is',
  async (name) => {
    const service = await createSilentService(trueStatuses);
    const { heard } = await service.ask(customers[name], {});
    await service.pass(100);
    expect(textOf(heard)).toBe(keepAliveOf(name));
  },
);

const restApi = { silenceMs: 300_000, commitsStreams: false, commitsJson: false };

test.for(rowsOfTier(begunEarly, shapeOf))(
  'LIM-6 ERR-6 %s has its true status at 290 s without an early start',
  async (name) => {
    await refusedAt(await createSilentService(restApi), name, 290);
  },
);

test('LIM-6 CHAT-11 a stream that started in time, and its hold, have the full time limit', async () => {
  const service = await createSilentService(restApi);
  const events = customers['chat stream'].vendor.split('\n\n');
  const body = [`${events.slice(0, 2).join('\n\n')}\n\n`, 305, events.slice(2).join('\n\n')];
  const { heard, done } = await service.ask(customers['chat stream'], { seconds: 288, body });
  await service.pass(291);
  expect(heard.head?.statusCode).toBe(200);
  expect((await service.money()).expiries).toEqual([600 + GRACE_SECONDS]);
  await service.pass(303);
  await done;
  const prompt = await promptly('chat stream');
  expect(alike(textOf(heard)).replaceAll(': keep-alive\n\n', '')).toBe(prompt.text);
  expect(textOf(heard).split(': keep-alive')).toHaveLength(1 + Math.floor(305 / 15));
  expect(await service.money()).toEqual({ spentPicos: prompt.spentPicos, expiries: [] });
});
