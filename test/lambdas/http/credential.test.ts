import { expect, test } from 'vitest';
import { credentialOf } from '../../../lambdas/http/credential.ts';

test.for([
  ['Bearer sk-service-1', 'sk-service-1'],
  ['bearer sk-service-1', 'sk-service-1'],
  ['BEARER   sk-service-1  ', 'sk-service-1'],
] as const)('AUTH-1 %s is read', ([authorization, key]) => {
  expect(credentialOf('bearer', { authorization })).toBe(key);
});

test.for([
  undefined,
  '',
  'Bearer',
  'Bearer ',
  'Bearer    ',
  'Basic sk-service-1',
  'sk-service-1',
  'Bearersk-service-1',
  'Bearer a b',
  'Bearer sk-service-1,Bearer sk-service-2 x',
  'Token Bearer sk-service-1',
])('AUTH-1 %s is no credential', (authorization) => {
  expect(credentialOf('bearer', { authorization })).toBeUndefined();
});

test('AUTH-6 a route without a credential reads none', () => {
  expect(credentialOf('none', { authorization: 'Bearer sk-service-1' })).toBeUndefined();
});
