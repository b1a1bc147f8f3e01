import { expect, test } from 'vitest';
import { setLimits, toKey, toKeyItem } from '../../../../lambdas/stores/dynamodb/key-item.ts';
import { keyNamed } from '../../../contracts/account-subjects.ts';

const tables = { accounts: 'accounts', keys: 'keys' };
const statusOf = (limits: Parameters<typeof setLimits>[2]): unknown => {
  const write = setLimits(tables, 'hash', limits);
  return 'update' in write && write.update.values?.[':status'];
};

test('KEY-8 a restricted key has a status that a release without restrictions rejects', () => {
  expect(toKeyItem('one', keyNamed('hash')).status).toBe('active');
  expect(statusOf({})).toBe('active');
  for (const limits of [
    { rate: 1 },
    { models: ['a'] },
    { expiresAtMs: 5 },
    { cap: { kind: 'day', epoch: 3 } },
  ] as const) {
    expect(toKeyItem('one', keyNamed('hash'), limits).status).toBe('restricted');
    expect(statusOf(limits)).toBe('restricted');
  }
});

test('OPS-11 a key of an earlier release is read, and one with an unknown status is revoked', () => {
  const item = { pk: 'hash', accountId: 'one', status: 'active', tat: 7n };
  expect(toKey('hash', item)).toEqual({
    ...{
      keyId: expect.stringMatching(/^[0-9a-f]{16}$/),
      accountId: 'one',
      status: 'active',
      blocked: false,
      tatMicros: 7,
    },
  });
  expect(toKey('hash', { ...item, status: 'paused' }).status).toBe('revoked');
});

test('OPS-11 a key whose cap has a kind of a newer release is read, and still has a cap', () => {
  const item = { pk: 'hash', accountId: 'one', status: 'restricted', tat: 7n, cap: { kind: 'week', epoch: 3n } };
  expect(toKey('hash', item)).toMatchObject({ status: 'active', cap: { kind: 'total', epoch: 3 } });
});
