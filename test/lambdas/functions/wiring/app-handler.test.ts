import { expect, test } from 'vitest';
import { fails, withAccountFaults } from '../../../support/memory/faults.ts';
import { ACCOUNT, appRoutes, BOT_TOKEN, CHAT, createAppService, firstKey, initDataAt } from './app-service.ts';

const HOUR_MS = 60 * 60_000;

/** Good for every route; the key is nobody's. */
const body = { threshold_usd: '1', key_id: '0'.repeat(16) };
const bodyFor = (path: string) => {
  if (path === '/app/api/threshold') return { threshold_usd: body.threshold_usd };
  return path === '/app/api/key' ? { key_id: body.key_id } : undefined;
};

type Forge = (nowMs: number) => string | undefined;
const forged: readonly (readonly [what: string, forge: Forge])[] = [
  ['none', () => undefined],
  ['an API key', () => `Bearer ${firstKey}`],
  ['one of another bot', (now) => `tma ${initDataAt(now, CHAT, '123456:another-token')}`],
  ['one of another user, under the same hash', (now) => `tma ${initDataAt(now).replace('4711', '4712')}`],
  ['an older one', (now) => `tma ${initDataAt(now - HOUR_MS - 1_000)}`],
  ['one from the future', (now) => `tma ${initDataAt(now + 11_000)}`],
  ['one with a further field', (now) => `tma a=b&${initDataAt(now)}`],
  ['one without its hash', (now) => `tma ${initDataAt(now).replace(/&hash=.*/, '')}`],
];

test.for(appRoutes.flatMap(([method, path]) => forged.map(([what, forge]) => [method, path, what, forge] as const)))(
  'KEY-5 %s %s with initData that is %s: 401, and nothing of the body is read',
  async ([method, path, , forge]) => {
    const { ask, clock, finished, parts } = await createAppService();
    const before = await parts.accounts.profile(ACCOUNT);
    const authorization = forge(clock.now());
    const sent = { method, ...(authorization === undefined ? {} : { authorization }) };
    const answer = await ask(path, method === 'POST' ? { ...sent, body: '{"no' } : sent);
    expect([answer.status, answer.body.error]).toMatchObject([
      401,
      { type: 'authentication_error', code: 'invalid_signature', param: 'Authorization' },
    ]);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(await parts.accounts.profile(ACCOUNT)).toEqual(before);
    expect(finished.map(({ accountId }) => accountId)).toEqual([undefined]);
  },
);

test.for(appRoutes)('KEY-4 %s %s of a chat without an account: 404 that says what to do', async ([method, path]) => {
  const { ask, clock } = await createAppService();
  const authorization = `tma ${initDataAt(clock.now(), 99)}`;
  const sentBody = bodyFor(path);
  const answer = await ask(path, { method, authorization, ...(sentBody ? { body: sentBody } : {}) });
  expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
  expect(answer.body.error.message).toContain('/start');
  expect(answer.headers['cache-control']).toBe('no-store');
});

test.for(appRoutes)('BILL-14 %s %s is 503 while its store is down', async ([method, path]) => {
  const { ask, clock } = await createAppService((parts) => ({
    accounts: withAccountFaults(parts.accounts, { chat: fails }),
  }));
  const sentBody = bodyFor(path);
  const authorization = `tma ${initDataAt(clock.now())}`;
  const answer = await ask(path, { method, authorization, ...(sentBody ? { body: sentBody } : {}) });
  expect([answer.status, answer.body.error.code, answer.headers['retry-after']]).toEqual([
    503,
    'service_unavailable',
    '30',
  ]);
});

test.for(appRoutes)('KEY-5 %s %s: an hour old is read, and its log line names the account alone', async (route) => {
  const [method, path] = route;
  const { ask, clock, finished } = await createAppService();
  const authorization = `tma ${initDataAt(clock.now() - HOUR_MS)}`;
  const sentBody = bodyFor(path);
  const answer = await ask(path, { method, authorization, ...(sentBody ? { body: sentBody } : {}) });
  expect(answer.headers['cache-control']).toBe('no-store');
  if (path === '/app/api/key') {
    expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_signature']);
    return;
  }
  expect(answer.status).toBe(200);
  expect(finished).toMatchObject([{ status: 200, accountId: ACCOUNT }]);
  const logged = JSON.stringify(finished);
  for (const secret of [BOT_TOKEN, 'hash=', 'Ada']) expect(logged).not.toContain(secret);
});

test('LIM-2 a chat is limited as a key is, however many requests its address may make', async () => {
  const { get } = await createAppService((parts) => ({ settings: { ...parts.settings, LIMIT_KEY_BURST: 15 } }));
  const statuses = [];
  for (let time = 0; time < 16; time += 1) statuses.push((await get('/app/api/account')).status);
  expect(statuses).toEqual([...Array.from({ length: 15 }, () => 200), 429]);
});
