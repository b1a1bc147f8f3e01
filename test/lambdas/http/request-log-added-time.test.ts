import { expect, test } from 'vitest';
import { toRequestRecord } from '../../../lambdas/http/request-log.ts';

test('OPS-3 the request record has the time that the gateway added', () => {
  const summary = { status: 200, firstByteMs: 900, totalMs: 1_200, uploadMs: 100, providerMs: 700 };
  expect(toRequestRecord('REQUEST', summary)).toMatchObject({
    'gateway.first_byte_ms': 900,
    'gateway.added_ms': 100,
    'gateway.total_ms': 1_200,
  });
  expect(toRequestRecord('REQUEST', { status: 404, totalMs: 3 })['gateway.added_ms']).toBeUndefined();
});
