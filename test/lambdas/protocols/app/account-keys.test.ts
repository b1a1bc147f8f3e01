import { expect, test } from 'vitest';
import { toNewKey } from '../../../../lambdas/core/accounts/keys.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import {
  ACCOUNT,
  createAppService,
  ended,
  firstKey,
  firstKeyId,
  initDataAt,
} from '../../functions/wiring/app-service.ts';
import { keyOf } from '../../http/chain.ts';

const KEYS = '/app/api/keys';
const DAY_MS = 86_400_000;

test('KEY-8 the mini app lists, creates, changes and revokes API keys, and shows a new one once', async () => {
  const { get, post, send, withKey } = await createAppService();
  const made = await post(KEYS, { name: 'Web site', limit_usd: '5', limit_period: 'day', models: ['alpha-1'] });
  expect([made.status, made.headers['cache-control'], made.headers.etag]).toEqual([200, 'no-store', '"1"']);
  expect(made.body).toMatchObject({ name: 'Web site', limit_usd: '5', spent_usd: '0', held_usd: '0', rights: [] });
  const { id, key } = made.body;
  expect((await withKey('/api/account', key)).status).toBe(200);

  const changed = await send('PATCH', `${KEYS}/${id}`, { name: 'Shop', limit_usd: null }, '"1"');
  expect([changed.status, changed.headers.etag]).toEqual([200, '"2"']);
  expect(changed.body).toMatchObject({ name: 'Shop', limit_usd: null, models: ['alpha-1'] });
  const list = await get(KEYS);
  expect(list.body.data).toMatchObject([
    { id: firstKeyId, first: true, rights: ['manage'] },
    { id, name: 'Shop' },
  ]);
  const read = await get(`${KEYS}/${id}`);
  expect(read.body).toEqual(list.body.data[1]);
  for (const { text } of [changed, list, read]) expect(text).not.toContain(key);

  expect(await send('DELETE', `${KEYS}/${id}`, undefined, '"2"')).toMatchObject({
    status: 200,
    body: { deleted: true },
  });
  expect((await withKey('/api/account', key)).body.error.code).toBe('revoked_api_key');
  expect((await get(`${KEYS}/${id}`)).status).toBe(404);
});

test('KEY-8 the mini app removes manage from the first key, and restores it', async () => {
  const { get, send, withKey } = await createAppService();
  const first = `${KEYS}/${firstKeyId}`;
  expect((await withKey('/api/keys', firstKey)).status).toBe(200);
  expect((await send('PATCH', first, { rights: [] })).body.rights).toEqual([]);
  expect((await withKey('/api/keys', firstKey)).body.error.code).toBe('key_right_missing');
  expect((await get(KEYS)).status).toBe(200);
  expect((await send('PATCH', first, { rights: ['manage'] })).body.rights).toEqual(['manage']);
  expect((await withKey('/api/keys', firstKey)).status).toBe(200);
  const restricted = await send('PATCH', first, { limit_usd: '5' });
  expect([restricted.status, restricted.body.error.param]).toEqual([400, 'limit_usd']);
});

test('KEY-8 a change of an older version is 409 in the mini app, and changes nothing', async () => {
  const { get, post, send } = await createAppService();
  const { id } = (await post(KEYS, { name: 'A' })).body;
  await send('PATCH', `${KEYS}/${id}`, { name: 'B' }, '"1"');
  for (const method of ['PATCH', 'DELETE']) {
    const late = await send(method, `${KEYS}/${id}`, method === 'PATCH' ? { name: 'C' } : undefined, '"1"');
    expect([late.status, late.body.error.code]).toEqual([409, 'key_changed']);
  }
  expect((await get(`${KEYS}/${id}`)).body.name).toBe('B');
});

test('KEY-8 an API key of another account is 404 in the mini app', async () => {
  const service = await createAppService();
  const { id } = (await service.post(KEYS, { name: 'A' })).body;
  const key = toNewKey(service.deps.pepper, keyOf(2), true);
  await service.deps.accounts.open({ chatId: '99', accountId: 'another', key, creditPicos: 0n, atMs: 0 });
  const authorization = `tma ${initDataAt(service.clock.now(), 99)}`;
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const body = method === 'PATCH' ? { body: { name: 'B' } } : {};
    const { status } = await service.ask(`${KEYS}/${id}`, { method, authorization, ...body });
    expect(status).toBe(404);
  }
  expect((await service.get(KEYS)).body.data).toHaveLength(2);
});

test('KEY-5 eleven minutes after its start the mini app reads API keys, and changes none', async () => {
  const { clock, ask, get } = await createAppService();
  const authorization = `tma ${initDataAt(clock.now() - 11 * 60_000)}`;
  expect((await ask(KEYS, { authorization })).status).toBe(200);
  const first = `${KEYS}/${firstKeyId}`;
  for (const [method, path, body] of [
    ['POST', KEYS, { name: 'A' }],
    ['PATCH', first, { rights: [] }],
    ['DELETE', first, undefined],
  ] as const) {
    const late = await ask(path, { method, authorization, ...(body && { body }) });
    expect([late.status, late.body.error.code]).toEqual([401, 'invalid_signature']);
  }
  expect((await get(KEYS)).body.data).toMatchObject([{ id: firstKeyId, rights: ['manage'] }]);
});

test('KEY-8 a key without a cap shows the sum of its charges, on both routes', async () => {
  const { get, ledger, clock, withKey } = await createAppService();
  const cost = { keyId: firstKeyId, amountPicos: parseUsd('0.25') };
  await ledger.putRecord(ended(clock.now() - DAY_MS, cost));
  await ledger.putRecord(ended(clock.now() - 1, cost));
  const spent = [{ id: firstKeyId, spent_usd: '0.5', held_usd: null }];
  expect((await get(KEYS)).body.data).toMatchObject(spent);
  expect((await withKey('/api/keys', firstKey)).body.data).toMatchObject(spent);
});

test('BILL-23 the mini app sums usage as the API does', async () => {
  const { get, ledger, clock, withKey } = await createAppService();
  await ledger.putRecord(ended(clock.now() - DAY_MS, { keyId: firstKeyId, amountPicos: parseUsd('0.25') }));
  const query = '?group_by=key,model';
  const { body } = await get(`/app/api/usage/summary${query}`);
  expect(body.data).toMatchObject([{ key_id: firstKeyId, model: 'alpha-1', cost_usd: '0.25' }]);
  expect(body).toEqual((await withKey(`/api/usage/summary${query}`, firstKey)).body);
});

test.for([
  [undefined, null, null],
  [`https://pay.test/?for={account}`, `https://pay.test/?for=${ACCOUNT}`, null],
  ['Ask @operator, account {account}', null, `Ask @operator, account ${ACCOUNT}`],
] as const)('KEY-4 TOP_UP_TEXT %s is shown as a link or as a text', async ([TOP_UP_TEXT, url, text]) => {
  const { get } = await createAppService(({ settings }) => ({ settings: { ...settings, TOP_UP_TEXT } }));
  expect((await get('/app/api/account')).body).toMatchObject({ top_up_url: url, top_up_text: text });
});
