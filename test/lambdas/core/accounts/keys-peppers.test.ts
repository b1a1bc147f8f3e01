import { expect, test } from 'vitest';
import { hashApiKey, hashesOf, parsePeppers, toNewKey } from '../../../../lambdas/core/accounts/keys.ts';

const NEW = 'the newest of the peppers';
const OLD = 'an older one of the peppers';

test.each([
  ['one', NEW, NEW, []],
  ['one with a line break', `${NEW}\n`, NEW, []],
  ['two', `${NEW}\n${OLD}`, NEW, [OLD]],
  ['two with empty lines and spaces', `\r\n  ${NEW} \r\n\n${OLD}\r\n`, NEW, [OLD]],
  ['a repeated one', `${NEW}\n${OLD}\n${NEW}`, NEW, [OLD]],
])('AUTH-5 peppers are on separate lines, the newest first: %s', (_name, text, pepper, olderPeppers) => {
  expect(parsePeppers(text)).toEqual({ pepper, olderPeppers });
});

test.each([
  ['nothing', ''],
  ['empty lines', ' \n\n'],
  ['a short one', 'short-canary'],
  ['a short older one', `${NEW}\nshort-canary`],
  ['a short newer one', `short-canary\n${OLD}`],
])('AUTH-5, ERR-5 a pepper under 16 characters is rejected and not quoted: %s', (_name, text) => {
  const parse = () => parsePeppers(text);
  expect(parse).toThrow('at least 16 characters');
  expect(parse).not.toThrow('canary');
});

test('AUTH-5 a key is hashed under every pepper, the newest first', () => {
  const peppers = { pepper: NEW, olderPeppers: [OLD] };
  expect(hashesOf(peppers, 'key')).toEqual([hashApiKey(NEW, 'key'), hashApiKey(OLD, 'key')]);
});

test('AUTH-5 a new key stores the id of its pepper', () => {
  const ids = [NEW, OLD].map((pepper) => toNewKey(pepper, 'key', true).pepperId);
  expect(new Set(ids).size).toBe(2);
});
