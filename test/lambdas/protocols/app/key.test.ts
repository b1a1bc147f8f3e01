import { expect, test } from 'vitest';
import { isApiKey } from '../../../../lambdas/core/accounts/api-key.ts';
import { conflict, fails, losesReply, withAccountFaults } from '../../../support/memory/faults.ts';
import { ACCOUNT, createAppService, firstKey, firstKeyId, initDataAt } from '../../functions/wiring/app-service.ts';

const KEY = '/app/api/key';
const first = { key_id: firstKeyId };

test('KEY-2 a new key comes with its id, the old one is revoked at once and the new one works', async () => {
  const { get, post, withKey } = await createAppService();
  expect((await withKey('/api/account', firstKey)).status).toBe(200);
  const { status, body, headers } = await post(KEY, first);
  expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
  expect(body).toEqual({ key: expect.any(String), id: expect.any(String), masked: expect.any(String) });
  expect(isApiKey(body.key)).toBe(true);
  expect(body.masked).toBe(`${body.key.slice(0, 15)}…${body.key.slice(-4)}`);
  const old = await withKey('/api/account', firstKey);
  expect([old.status, old.body.error.code]).toEqual([401, 'revoked_api_key']);
  expect((await withKey('/api/account', body.key)).body.id).toBe(ACCOUNT);
  expect((await get('/app/api/account')).body.key).toMatchObject({ id: body.id, masked: body.masked, revoked: false });
});

test('KEY-2 of two rotations at once one is 200 and the other 409', async () => {
  const { post, withKey } = await createAppService();
  const answers = await Promise.all([post(KEY, first), post(KEY, first)]);
  const [won, lost] = answers.toSorted((one, other) => one.status - other.status);
  expect([won?.status, lost?.status]).toEqual([200, 409]);
  expect(lost?.body.error).toMatchObject({ code: 'key_already_rotated', param: 'key_id' });
  expect((await withKey('/api/account', won?.body.key)).status).toBe(200);
});

test('KEY-2 the id of a key that was replaced before is 409, and of the one after it 200', async () => {
  const { post } = await createAppService();
  const { body } = await post(KEY, first);
  expect((await post(KEY, first)).body.error.code).toBe('key_already_rotated');
  expect((await post(KEY, { key_id: body.id })).status).toBe(200);
});

test('KEY-5 ten minutes after the mini app was opened a key is replaced, later it is 401 and stands', async () => {
  const { ask, clock, withKey } = await createAppService();
  const ageOf = (ageMs: number) =>
    ask(KEY, { method: 'POST', authorization: `tma ${initDataAt(clock.now() - ageMs)}`, body: first });
  const late = await ageOf(10 * 60_000 + 1_000);
  expect([late.status, late.body.error]).toMatchObject([401, { code: 'invalid_signature', param: 'Authorization' }]);
  expect(late.body.error.message).toMatch(/open it again/i);
  expect((await withKey('/api/account', firstKey)).status).toBe(200);
  expect((await ageOf(10 * 60_000)).status).toBe(200);
});

test('KEY-2 the key of a blocked account stays, while the account can be read', async () => {
  const { get, post, parts } = await createAppService();
  const current = await parts.accounts.currentKey(ACCOUNT);
  await parts.accounts.setBlocked(ACCOUNT, true, current?.hash);
  const refused = await post(KEY, first);
  expect([refused.status, refused.body.error.code]).toEqual([403, 'account_blocked']);
  expect((await parts.accounts.currentKey(ACCOUNT))?.hash).toBe(current?.hash);
  expect((await get('/app/api/account')).body).toMatchObject({ status: 'blocked', key: { id: firstKeyId } });
});

test('KEY-2 a lost reply is repeated, and the key that was told is the one that works', async () => {
  const { post, withKey, clock } = await createAppService((parts) => ({
    accounts: withAccountFaults(parts.accounts, { replaceKey: [conflict, losesReply] }),
  }));
  const { status, body } = await clock.until(post(KEY, first));
  expect(status).toBe(200);
  expect((await withKey('/api/account', body.key)).status).toBe(200);
});

test('KEY-2 while the store does not say it is 503, with what to do', async () => {
  const { post, clock } = await createAppService((parts) => ({
    accounts: withAccountFaults(parts.accounts, { replaceKey: fails }),
  }));
  const { status, headers, body } = await clock.until(post(KEY, first));
  expect([status, body.error.code, headers['retry-after']]).toEqual([503, 'service_unavailable', '30']);
  expect(body.error.message).toMatch(/read the account again/i);
});

test.for<readonly [param: string, body: object]>([
  ['key_id', {}],
  ['key_id', { key_id: null }],
  ['key_id', { key_id: 5 }],
  ['key_id', { key_id: firstKeyId.toUpperCase() }],
  ['key_id', { key_id: `${firstKeyId}0` }],
  ['key_id', { key_id: `${firstKeyId}\n` }],
  ['account', { ...first, account: 'another' }],
])('KEY-2 a wrong %s is refused by name: %o', async ([param, body]) => {
  const { post, withKey } = await createAppService();
  const answer = await post(KEY, body);
  expect([answer.status, answer.body.error]).toMatchObject([400, { code: 'invalid_request_error', param }]);
  expect((await withKey('/api/account', firstKey)).status).toBe(200);
});
