import { expect, test } from 'vitest';
import { isLocalFailure } from '../../../lambdas/providers/local-failure.ts';

const failing = (code: string, syscall = 'connect'): Error => Object.assign(new Error(code), { code, syscall });

test.for(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'ENETDOWN', 'ENETUNREACH', 'EPERM', 'EACCES'])(
  'FALL-1 %s is a failure of this machine',
  (code) => {
    expect(isLocalFailure(failing(code))).toBe(true);
  },
);

test.for(['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'EHOSTUNREACH', 'CERT_HAS_EXPIRED', 'ENOTFOUND'])(
  'FALL-1 %s of a connection is a failure of the provider',
  (code) => {
    expect(isLocalFailure(failing(code))).toBe(false);
  },
);

test.for(['ENOTFOUND', 'EAI_AGAIN', 'EMFILE'])('FALL-1 %s of a name lookup is a failure of this machine', (code) => {
  expect(isLocalFailure(failing(code, 'getaddrinfo'))).toBe(true);
});

test('FALL-1 a host with several addresses fails locally only if each address does', () => {
  const [here, there] = [failing('ENETUNREACH'), failing('ECONNREFUSED')];
  expect(isLocalFailure(new AggregateError([here, here]))).toBe(true);
  expect(isLocalFailure(Object.assign(new AggregateError([here, there]), { code: 'ENETUNREACH' }))).toBe(false);
  expect([new AggregateError([]), new Error('x'), undefined, 'EMFILE'].map(isLocalFailure)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
