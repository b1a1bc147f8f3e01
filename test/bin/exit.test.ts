import { expect, test } from 'vitest';
import { failed, misused, refused, toEnding, unsatisfied } from '../../bin/exit.ts';
import { GatewayError, invalidRequest } from '../../lambdas/core/errors/gateway-error.ts';
import { StoreError } from '../../lambdas/core/errors/store-error.ts';

const aggregate = new AggregateError([new Error('connect ECONNREFUSED 127.0.0.1:9')]);

test.each<readonly [string, unknown, number, string | undefined]>([
  ['a failure', failed('It failed.'), 1, 'It failed.'],
  ['wrong usage', misused('Not so.'), 2, 'Not so.'],
  ['a rule', refused('No.'), 3, 'No.'],
  ['a negative result', unsatisfied(), 1, undefined],
  ['a wrong parameter', invalidRequest('from', 'from: no.'), 2, 'from: no.'],
  ['a conflict', new GatewayError('key_already_rotated', 'Too late.'), 3, 'Too late.'],
  ['a provider', new GatewayError('service_unavailable', 'Not now.'), 1, 'Not now.'],
  [
    'a store',
    new StoreError('unavailable', 'TimeoutError', new Error('no response')),
    1,
    'The store did not respond: no response. Run the same command again.',
  ],
  ['a refused connection', aggregate, 1, 'connect ECONNREFUSED 127.0.0.1:9'],
  ['a bug', new TypeError('x is not a function'), 1, 'x is not a function'],
  ['a thrown string', 'thrown text', 1, 'thrown text'],
])('OPS-5 %s ends with its exit code and message, without a stack trace', (_, error, exitCode, message) => {
  expect(toEnding(error)).toEqual({ exitCode, message });
});
