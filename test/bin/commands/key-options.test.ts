import { expect, test } from 'vitest';
import { readKeyChangeOptions, readNewKeyOptions, toKeyError } from '../../../bin/commands/key-options.ts';
import { GatewayError, invalidRequest } from '../../../lambdas/core/errors/gateway-error.ts';

const ALONE = '--limit-period: requires --limit-usd with an amount. Use both, or neither.';

test.for([
  [{}, 'No option changes the API key. Use at least one of --name, --limit-usd, --limit-period, --expires-at,'],
  [{ limitUsd: 'none', limitPeriod: 'day' }, ALONE],
  [{ limitPeriod: 'week' }, '--limit-period: '],
  [{ limitUsd: 'many' }, '--limit-usd: '],
  [{ expiresAt: 'soon' }, '--expires-at: must be a time'],
  [{ models: '' }, '--models: contains an empty id.'],
  [{ models: 'gpt-5.4,,a' }, '--models: contains an empty id.'],
  [{ requestsPerSecond: 'fast' }, '--requests-per-second: must be a number'],
  [{ rights: 'all' }, '--rights: '],
] as const)('OPS-5 the options %j of a change are wrong usage and named', ([options, message]) => {
  const expected = { exitCode: 2, message: expect.stringContaining(message) };
  expect(() => readKeyChangeOptions(options)).toThrow(expect.objectContaining(expected));
});

test('OPS-5 a period of a new key without a cap is wrong usage', () => {
  const expected = expect.objectContaining({ exitCode: 2, message: ALONE });
  expect(() => readNewKeyOptions({ name: 'A', limitPeriod: 'day' })).toThrow(expected);
});

const at = { accountId: 'one', keyId: '1f' };

test.for([
  ['limit_usd', 'limit_usd: 1 USD is below.', 3, '--limit-usd: 1 USD is below.'],
  [
    'limit_period',
    'limit_period: requires limit_usd. Send both.',
    3,
    '--limit-period: requires --limit-usd. Use both.',
  ],
  ['rights', 'rights: an API key with models cannot.', 3, '--rights: an API key with --models cannot.'],
  ['models[0]', 'models[0]: unknown.', 2, '--models: unknown.'],
  ['expires_at', 'expires_at: must be in the future.', 2, '--expires-at: must be in the future.'],
] as const)('OPS-5 a rejected %s has the exit code of its kind and names the option', ([field, text, code, shown]) => {
  expect(toKeyError(invalidRequest(field, text), at)).toMatchObject({ exitCode: code, message: shown });
});

test('OPS-5 a restriction of the first key and too many keys are refused by a rule', () => {
  const restricted = invalidRequest('models', 'models: the first key cannot be restricted.');
  expect(toKeyError(restricted, { ...at, isFirst: true })).toMatchObject({ exitCode: 3 });
  const full = new GatewayError('invalid_request_error', 'This account has 50 API keys.');
  expect(toKeyError(full, { accountId: 'one' })).toMatchObject({ exitCode: 3 });
});

test('OPS-5 an error of another kind stays as it is', () => {
  const error = new GatewayError('service_unavailable', 'Retry later.');
  expect(toKeyError(error, at)).toBe(error);
});
