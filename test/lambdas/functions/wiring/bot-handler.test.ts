import { afterEach, describe, expect, test } from 'vitest';
import { labelOf, toMasked } from '../../../../lambdas/core/accounts/keys.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { type BotService, type BotServiceOptions, createBotService } from '../../../support/bot-service.ts';
import { keysIn, toUpdate, USER } from '../../../support/bot-updates.ts';
import { conflict, fails, losesReply, withAccountAndKeyFaults } from '../../../support/memory/faults.ts';

const services: BotService[] = [];
afterEach(async () => {
  for (const { messenger } of services.splice(0)) await messenger.stop();
});

const open = async (options: BotServiceOptions = {}): Promise<BotService> => {
  const service = await createBotService(options);
  services.push(service);
  return service;
};

const keysOf = ({ texts }: BotService): readonly string[] => keysIn(texts().join('\n'));

const keyOf = (service: BotService): string => {
  const [key, ...others] = keysOf(service);
  if (key === undefined || others.length > 0) throw new Error(`${others.length} further keys`);
  return key;
};

test('KEY-1 one of several concurrent deliveries is answered, and the others must retry', async () => {
  const service = await open();
  const answers = await Promise.all([1, 2, 3].map(() => service.say('/start', { updateId: 77 })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 503, 503]);
  expect(answers.find(({ status }) => status === 503)?.headers['retry-after']).toBe('5');
  expect((await service.say('/start', { updateId: 77 })).status).toBe(200);
  expect(service.texts()).toHaveLength(2);
  expect(await service.accountOf(keyOf(service))).toBeDefined();
});

test('KEY-1 another /start shows the masked key and where to replace it', async () => {
  const service = await open();
  await service.say('/start');
  const key = keyOf(service);
  for (let time = 0; time < 2; time += 1) await service.say('/start');
  expect(keysOf(service)).toEqual([key]);
  expect(service.texts().slice(2)).toHaveLength(2);
  expect(service.texts()[2]).toContain(`${key.slice(0, 15)}…${key.slice(-4)}`);
  expect(service.messenger.messages(USER).at(-1)?.buttons).toEqual([
    [{ kind: 'app', text: 'Open the app', url: 'https://gateway.example/app' }],
  ]);
  expect(await service.accountOf(key)).toBeDefined();
});

describe('the messenger rejects a message', () => {
  test('KEY-1 a key whose message failed is sent with the next delivery', async () => {
    const service = await open();
    for (const failure of [{ status: 429, retryAfter: 17 }, { status: 500 }, { status: 0 }, { status: 401 }]) {
      service.messenger.answer(failure);
      const answer = await service.say('/start', { updateId: 5 });
      expect(answer.status).toBe(503);
      expect(answer.headers['retry-after']).toBe(failure.status === 429 ? '17' : '5');
    }
    expect(service.texts()).toEqual([]);
    expect((await service.say('/start', { updateId: 5 })).status).toBe(200);
    expect(await service.accountOf(keyOf(service))).toBeDefined();
    expect(service.ledger.accounts()).toHaveLength(1);
  });

  test('KEY-1 a key whose message got no reply is replaced, and the last one works', async () => {
    const service = await open();
    service.messenger.answer({ status: 0, isTaken: true });
    expect((await service.say('/start', { updateId: 5 })).status).toBe(503);
    expect((await service.say('/start', { updateId: 5 })).status).toBe(200);
    const [first = '', last = ''] = keysOf(service);
    expect([await service.accountOf(first), await service.accountOf(last)]).toEqual([undefined, expect.any(String)]);
  });

  test('KEY-3 a user who blocked the bot gets no message until they write again', async () => {
    const service = await open();
    await service.say('/start');
    service.messenger.answer({ status: 403 });
    expect((await service.say('/balance', { updateId: 40 })).status).toBe(200);
    expect((await service.say('/balance', { updateId: 40 })).status).toBe(200);
    expect(service.texts()).toHaveLength(2);
    expect(await service.deps.accounts.chat(String(USER))).toMatchObject({ isClosed: true });
    await service.say('/balance');
    expect(service.texts()).toHaveLength(3);
    expect(await service.deps.accounts.chat(String(USER))).toMatchObject({ isClosed: false });
  });

  test('KEY-1 a permanent rejection by the messenger is reported and not retried', async () => {
    const service = await open();
    service.messenger.answer({ status: 400 });
    expect((await service.say('/help', { updateId: 9 })).status).toBe(200);
    expect((await service.say('/help', { updateId: 9 })).status).toBe(200);
    expect(service.texts()).toEqual([]);
    expect(service.notices).toEqual([
      ['bot_message_refused', { reason: 'the Bot API answered 400: Bad Request: chat not found' }],
    ]);
  });
});

describe('the store does not respond', () => {
  const faulty = (faults: Parameters<typeof withAccountAndKeyFaults>[1]): BotServiceOptions => ({
    change: (deps) => withAccountAndKeyFaults(deps, faults),
  });

  test('KEY-1 a short outage goes unnoticed by the user', async () => {
    const service = await open(
      faulty({ chat: [fails], open: [losesReply, conflict], currentKey: [fails], markShown: [losesReply] }),
    );
    expect((await service.say('/start')).status).toBe(200);
    await service.say('/start');
    expect(await service.accountOf(keyOf(service))).toBeDefined();
  });

  test('KEY-1 a key whose display cannot be recorded is replaced at the next delivery', async () => {
    const service = await open(faulty({ markShown: [fails, fails, fails, fails] }));
    expect((await service.say('/start', { updateId: 5 })).status).toBe(503);
    expect((await service.say('/start', { updateId: 5 })).status).toBe(200);
    const [first = '', last = ''] = keysOf(service);
    expect([await service.accountOf(first), await service.accountOf(last)]).toEqual([undefined, expect.any(String)]);
    expect(service.texts()[0]).not.toContain('It replaces the key');
    expect(service.texts().join('\n')).toContain(`It replaces the key ${toMasked(labelOf(first))}`);
  });

  test('KEY-1 a used key whose display cannot be recorded stays, and the next /start shows its ends', async () => {
    const service = await open(faulty({ markShown: [fails, fails, fails, fails] }));
    expect((await service.say('/start', { updateId: 5 })).status).toBe(503);
    const first = keyOf(service);
    await service.use(first);
    expect((await service.say('/start', { updateId: 5 })).status).toBe(200);
    expect(keysOf(service)).toEqual([first]);
    expect(await service.accountOf(first)).toEqual(expect.any(String));
    expect(service.texts().at(-1)).toContain('You already have an account and an API key');
  });

  test('KEY-1 an update that cannot be claimed gets no reply', async () => {
    const service = await open({
      change: ({ updates }) => ({
        updates: {
          claim: () => Promise.reject(new StoreError('unavailable', 'no answer came')),
          finish: (id, nowMs) => updates.finish(id, nowMs),
          free: (id) => updates.free(id),
        },
      }),
    });
    expect((await service.say('/help')).status).toBe(503);
    expect(service.texts()).toEqual([]);
  });
});

describe('the sender of an update', () => {
  const silent: readonly (readonly [string, object])[] = [
    ["a group with a number like a user's", { chat: { id: 5, type: 'group', title: 'x' } }],
    ['a channel', { chat: { id: -1_006, type: 'channel', title: 'x' }, from: undefined }],
    ['another bot', { from: { id: 9, is_bot: true, first_name: 'x' } }],
    ['a chat without a number', { chat: { type: 'private' } }],
  ];
  test.each(silent)('KEY-1 %s gets no reply', async (_, change) => {
    const service = await open();
    const { message } = Object(toUpdate({ updateId: 1, text: '/start' }));
    const answer = await service.post({ update_id: 1, message: { ...message, ...change } });
    expect(answer.status).toBe(200);
    expect(service.ledger.accounts()).toEqual([]);
    expect(service.notices).toEqual([]);
  });

  test('KEY-1 an update without a message is accepted, and one without a valid id is rejected', async () => {
    const service = await open();
    expect((await service.post({ update_id: 1, edited_message: {} })).status).toBe(200);
    for (const update_id of [undefined, 1.5, -1, '1', 2 ** 53]) {
      const answer = await service.post({ update_id });
      expect([answer.status, JSON.parse(answer.text).error.param]).toEqual([400, 'update_id']);
    }
  });

  test("KEY-1 no log has a user's text or the reply to it", async () => {
    const service = await open();
    await service.say('/start canary-text');
    service.messenger.answer({ status: 500 });
    await service.say('canary-text');
    const written = JSON.stringify([service.finished, service.notices], (_, value) =>
      value instanceof Error ? { ...value, message: value.message, cause: value.cause } : value,
    );
    expect(written).toContain('MessengerError');
    expect(written).not.toContain('canary-text');
    expect(written).not.toContain('token-of-the-tests');
    expect(keysIn(written)).toEqual([]);
  });
});
