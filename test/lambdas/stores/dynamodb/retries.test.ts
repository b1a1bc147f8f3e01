import { expect, test } from 'vitest';
import { retryTypeOf, withRetries } from '../../../../lambdas/stores/dynamodb/retries.ts';

const failed = (fields: object): Error => Object.assign(new Error('failed'), fields);

test('BILL-14 a client with one attempt makes one, and asks no strategy', async () => {
  let tries = 0;
  const retryStrategy = () => Promise.reject(new Error('no strategy'));
  const attempt = (): Promise<never> => {
    tries += 1;
    return Promise.reject(failed({ code: 'ECONNRESET' }));
  };
  await expect(withRetries({ maxAttempts: async () => 1, retryStrategy }, attempt)).rejects.toThrow('failed');
  expect(tries).toBe(1);
});

test('a client that repeats passes on the last error, and reports a success to its strategy', async () => {
  const seen: unknown[] = [];
  const strategy = {
    acquireInitialRetryToken: async () => 0,
    refreshRetryTokenForRetry: async (token: number, { errorType }: { errorType: string }) => {
      seen.push(errorType);
      if (token === 1) throw new Error('no more attempts');
      return token + 1;
    },
    recordSuccess: (token: number) => seen.push(token),
  };
  const retries = { maxAttempts: async () => 2, retryStrategy: async () => strategy };
  const last = withRetries(retries, (tried) => Promise.reject(failed({ $metadata: { httpStatusCode: 500 }, tried })));
  await expect(last).rejects.toMatchObject({ tried: 2 });
  const repeated = await withRetries(retries, async (tried, max) => {
    if (tried === 1) throw failed({ name: 'ThrottlingException' });
    return [tried, max];
  });
  expect(repeated).toEqual([2, 2]);
  expect(seen).toEqual(['TRANSIENT', 'TRANSIENT', 'THROTTLING', 1]);
});

test('BILL-14 a repeat that is rejected leaves the outcome of an attempt without a reply unknown', async () => {
  const strategy = {
    acquireInitialRetryToken: async () => 0,
    refreshRetryTokenForRetry: async (token: number) => {
      if (token === 1) throw new Error('no more attempts');
      return token + 1;
    },
    recordSuccess: () => undefined,
  };
  const retries = { maxAttempts: async () => 2, retryStrategy: async () => strategy };
  const errorsOf = (first: object, second: object) =>
    withRetries(retries, (tried) => Promise.reject(failed(tried === 1 ? first : second)));
  const throttled = { name: 'ThrottlingException' };
  await expect(errorsOf({ code: 'ECONNRESET' }, throttled)).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(errorsOf(throttled, throttled)).rejects.toMatchObject(throttled);
  const refused = { name: 'ConditionalCheckFailedException' };
  await expect(errorsOf({ code: 'ECONNRESET' }, refused)).rejects.toMatchObject(refused);
});

test('a strategy of an unknown form is an error before the first attempt', async () => {
  const retries = { maxAttempts: async () => 2, retryStrategy: async () => ({}) };
  await expect(withRetries(retries, () => Promise.reject(new Error('sent')))).rejects.toThrow(/unknown form/);
});

test.each([
  [{ $metadata: { httpStatusCode: 429 } }, 'THROTTLING'],
  [{ name: 'TimeoutError' }, 'TRANSIENT'],
  [{ code: 'ENOTFOUND' }, 'TRANSIENT'],
  [{ cause: failed({ code: 'EPIPE' }) }, 'TRANSIENT'],
  [{ $retryable: {} }, 'TRANSIENT'],
  [{ $metadata: { httpStatusCode: 400, clockSkewCorrected: true } }, 'TRANSIENT'],
  [{ name: 'InvalidSignatureException', message: 'Signature expired: now' }, 'TRANSIENT'],
  [{ name: 'InvalidSignatureException' }, 'CLIENT_ERROR'],
  [{ name: 'AbortError', code: 'ECONNRESET' }, 'CLIENT_ERROR'],
  [{ $metadata: { httpStatusCode: 501 } }, 'SERVER_ERROR'],
  [{ $metadata: { httpStatusCode: 400 } }, 'CLIENT_ERROR'],
])('an error with %j is %s', (fields, type) => {
  expect(retryTypeOf(failed(fields))).toBe(type);
});

test('a thrown value that is not an error is not repeated', () => {
  expect(retryTypeOf('ECONNRESET')).toBe('CLIENT_ERROR');
});
