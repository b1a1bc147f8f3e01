import { expect, test } from 'vitest';
import { credentialForms } from '../../../lambdas/http/authenticate.ts';

test.for([
  ['Bearer sk-service-1', 'sk-service-1'],
  ['bearer sk-service-1', 'sk-service-1'],
  ['BEARER   sk-service-1  ', 'sk-service-1'],
] as const)('AUTH-1 %s is read', ([authorization, key]) => {
  expect(credentialForms.bearer.read({ authorization }, {})).toBe(key);
});

test.for([
  undefined,
  '',
  'Bearer',
  'Bearer    ',
  'Basic sk-service-1',
  'sk-service-1',
  'Bearersk-service-1',
  'Bearer a b',
  'Bearer sk-service-1,Bearer sk-service-2 x',
])('AUTH-1 %s is not a credential', (authorization) => {
  expect(credentialForms.bearer.read({ authorization }, {})).toBeUndefined();
});

test.for([
  [{ 'x-api-key': 'a' }, 'a'],
  [{ 'x-api-key': ' a ' }, 'a'],
  [{ authorization: 'Bearer b' }, 'b'],
  [{ 'x-api-key': 'a', authorization: 'Bearer b' }, 'a'],
  [{ 'x-api-key': '', authorization: 'Bearer b' }, 'b'],
  [{ 'x-api-key': '' }, undefined],
  [{ 'x-goog-api-key': 'a' }, undefined],
  [{}, undefined],
] as const)('AUTH-2 %j on messages is %s', ([headers, key]) => {
  expect(credentialForms.messages.read(headers, { key: 'query' })).toBe(key);
});

test.for([
  [{ 'x-provider-api-key': 'a' }, {}, 'a'],
  [{ 'x-goog-api-key': 'b' }, {}, 'b'],
  [{}, { key: 'c' }, 'c'],
  [{ 'x-provider-api-key': 'a', 'x-goog-api-key': 'b' }, { key: 'c' }, 'a'],
  [{ 'x-goog-api-key': 'b' }, { key: 'c' }, 'b'],
  [{ authorization: 'Bearer d' }, {}, 'd'],
  [{ authorization: 'Bearer d' }, { key: 'c' }, 'c'],
  [{ authorization: 'Basic d' }, {}, undefined],
  [{ 'x-api-key': 'd' }, { key: '' }, undefined],
] as const)('AUTH-3 %j and the query %j on generate-content are %s', ([headers, query, key]) => {
  expect(credentialForms.generate_content.read(headers, query)).toBe(key);
});

test.for([
  [{ authorization: 'Bearer a' }, 'a'],
  [{ 'x-api-key': 'b' }, 'b'],
  [{ authorization: 'Bearer a', 'x-api-key': 'b' }, 'a'],
  [{ 'x-goog-api-key': 'c' }, 'c'],
  [{ 'x-provider-api-key': 'd' }, 'd'],
  [{}, undefined],
] as const)('CAT-7 %j on the list of models is %s', ([headers, key]) => {
  expect(credentialForms.any.read(headers, {})).toBe(key);
});
