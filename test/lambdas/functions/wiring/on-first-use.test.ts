import { expect, test } from 'vitest';
import { onFirstUse } from '../../../../lambdas/functions/wiring/on-first-use.ts';

test('a function is loaded once, at its first call, and gets every argument', async () => {
  let loads = 0;
  const add = onFirstUse(async () => {
    loads += 1;
    return async (one: number, other: number) => one + other;
  });
  expect(loads).toBe(0);
  expect(await Promise.all([add(1, 2), add(3, 4)])).toEqual([3, 7]);
  expect(await add(5, 6)).toBe(11);
  expect(loads).toBe(1);
});

test('a call after a failed load loads again', async () => {
  const failures = [new Error('too many open files')];
  const greet = onFirstUse(async () => {
    const failure = failures.pop();
    if (failure) throw failure;
    return async (name: string) => `hello ${name}`;
  });
  await expect(greet('one')).rejects.toThrow('too many open files');
  expect(await greet('two')).toBe('hello two');
});

test('an error of the function itself does not load it again', async () => {
  let loads = 0;
  const fail = onFirstUse(async () => {
    loads += 1;
    return async () => Promise.reject(new Error('the work failed'));
  });
  await expect(fail()).rejects.toThrow('the work failed');
  await expect(fail()).rejects.toThrow('the work failed');
  expect(loads).toBe(1);
});
