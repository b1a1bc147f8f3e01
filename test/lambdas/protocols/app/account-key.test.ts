import { expect, test } from 'vitest';
import { conflict, fails, losesReply, withKeyFaults } from '../../../support/memory/faults.ts';
import { ACCOUNT, createAppService, firstKey, firstKeyId } from '../../functions/wiring/app-service.ts';

const KEY = '/app/api/key';
const first = { key_id: firstKeyId };

test('KEY-2 a blocked account can be read, but its key cannot be replaced', async () => {
  const { get, post, deps } = await createAppService();
  const current = await deps.keys.currentKey(ACCOUNT);
  await deps.accounts.setBlocked(ACCOUNT, true, current?.hash);
  const refused = await post(KEY, first);
  expect([refused.status, refused.body.error.code]).toEqual([403, 'account_blocked']);
  expect((await deps.keys.currentKey(ACCOUNT))?.hash).toBe(current?.hash);
  expect((await get('/app/api/account')).body).toMatchObject({ status: 'blocked', key: { id: firstKeyId } });
});

test('KEY-2 a lost result is retried, and the returned key is the one that works', async () => {
  const { post, withKey, clock } = await createAppService((deps) => ({
    keys: withKeyFaults(deps.keys, { replaceKey: [conflict, losesReply] }),
  }));
  const { status, body } = await clock.until(post(KEY, first));
  expect(status).toBe(200);
  expect((await withKey('/api/account', body.key)).status).toBe(200);
});

test('KEY-2 a replacement that the store does not confirm is 503 and says what to do', async () => {
  const { post, clock } = await createAppService((deps) => ({
    keys: withKeyFaults(deps.keys, { replaceKey: fails }),
  }));
  const { status, headers, body } = await clock.until(post(KEY, first));
  expect([status, body.error.code, headers['retry-after']]).toEqual([503, 'service_unavailable', '30']);
  expect(body.error.message).toMatch(/read the account again/i);
});

test.for<readonly [param: string, body: object]>([
  ['key_id', {}],
  ['key_id', { key_id: 5 }],
  ['key_id', { key_id: firstKeyId.toUpperCase() }],
  ['key_id', { key_id: `${firstKeyId}0` }],
  ['key_id', { key_id: `${firstKeyId}\n` }],
  ['account', { ...first, account: 'another' }],
])('KEY-2 a wrong %s gets an error that names it: %o', async ([param, body]) => {
  const { post, withKey } = await createAppService();
  const answer = await post(KEY, body);
  expect([answer.status, answer.body.error]).toMatchObject([400, { code: 'invalid_request_error', param }]);
  expect((await withKey('/api/account', firstKey)).status).toBe(200);
});
