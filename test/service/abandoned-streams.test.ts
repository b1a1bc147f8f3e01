import { expect, test } from 'vitest';
import { leaveStreams, sendTo } from '../support/circuit-hostile.ts';
import { chat, speech } from '../support/hostile-routes.ts';
import { circuitSuite } from './circuit-hostile-suite.ts';

const { open } = circuitSuite();

test('BILL-8 an account is served while the gateway reads twelve of its abandoned streams', async () => {
  const gateway = await open({});
  const { accountId, apiKey } = await gateway.issue({ balanceUsd: '10' });
  await leaveStreams(gateway, apiKey, 12);
  for (const route of [chat, speech]) {
    for (const headers of [[], ['x-service-dry-run: true']]) {
      expect((await sendTo(gateway, route, apiKey, { headers })).outcome).toBe('200');
    }
  }
  const account = await gateway.ledger.readAccount(accountId);
  expect(account?.holds.size).toBe(12);
});
