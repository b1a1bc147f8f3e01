import { expect, test } from 'vitest';
import { fails, withAccountFaults } from '../../../support/memory/faults.ts';
import { ACCOUNT, appRoutes, BOT_TOKEN, createAppService, firstKeyId, initDataAt } from './app-service.ts';

const HOUR_MS = 60 * 60_000;

/** Valid bodies, except that the key id names no key. */
const bodies: Readonly<Record<string, object>> = {
  '/app/api/threshold': { threshold_usd: '1' },
  '/app/api/key': { key_id: '0'.repeat(16) },
  '/app/api/keys': { name: 'A' },
  [`/app/api/keys/${firstKeyId}`]: { name: 'A' },
};
const sentTo = (method: string, path: string, authorization: string) => {
  const body = method.startsWith('P') ? bodies[path] : undefined;
  return { authorization, ...(body ? { body } : {}) };
};

test.for(appRoutes)('BILL-14 %s %s is 503 while its store is down', async ([method, path]) => {
  const { ask, clock } = await createAppService((deps) => ({
    accounts: withAccountFaults(deps.accounts, { chat: fails }),
  }));
  const { status, body, headers } = await ask(path, {
    method,
    ...sentTo(method, path, `tma ${initDataAt(clock.now())}`),
  });
  expect([status, body.error.code, headers['retry-after']]).toEqual([503, 'service_unavailable', '30']);
});

test.for(appRoutes)('KEY-4 %s %s of a chat without an account is 404 and names /start', async ([method, path]) => {
  const { ask, clock } = await createAppService();
  const { status, body } = await ask(path, { method, ...sentTo(method, path, `tma ${initDataAt(clock.now(), 99)}`) });
  expect([status, body.error.code]).toEqual([404, 'not_found']);
  expect(body.error.message).toContain('/start');
});

test.for(appRoutes)('KEY-5 %s %s logs the account of the chat and none of its initData', async ([method, path]) => {
  const { ask, clock, finished } = await createAppService();
  const isKey = path.startsWith('/app/api/key') && method !== 'GET';
  const sent = sentTo(method, path, `tma ${initDataAt(clock.now() - HOUR_MS)}`);
  const { status, headers } = await ask(path, { method, ...sent });
  expect([status, headers['cache-control']]).toEqual([isKey ? 401 : 200, 'no-store']);
  expect(finished.map(({ accountId }) => accountId)).toEqual([isKey ? undefined : ACCOUNT]);
  const logged = JSON.stringify(finished);
  for (const secret of [BOT_TOKEN, 'hash=', 'Ada']) expect(logged).not.toContain(secret);
});
