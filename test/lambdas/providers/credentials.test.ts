import { expect, test } from 'vitest';
import { parseCredentials } from '../../../lambdas/providers/credentials.ts';

const parse = (value: unknown) => parseCredentials('A_KEY', typeof value === 'string' ? value : JSON.stringify(value));

test('ERR-10 a plain key is one credential, and an empty value has no credential', () => {
  expect(parse('sk-a')).toEqual([{ key: 'sk-a', weight: 1, label: '#1', id: 'a4a6d307ad00fa67' }]);
  expect(parse(' sk-a\n')).toEqual(parse('sk-a'));
  for (const empty of ['', ' ', undefined]) expect(parseCredentials('A_KEY', empty)).toEqual([]);
});

test('ERR-10 a list has keys with weights and names; the id depends only on the key', () => {
  const [main, second] = parse([{ key: 'sk-b', weight: 5, name: 'main' }, { key: 'sk-a' }]);
  expect(main).toMatchObject({ key: 'sk-b', weight: 5, label: 'main' });
  expect(second).toMatchObject({ key: 'sk-a', weight: 1, label: '#2', id: parse('sk-a')[0]?.id });
  expect(parse([{ key: 'x'.repeat(1_000), weight: 1_000, name: 'a'.repeat(40) }])).toHaveLength(1);
  expect(parse(Array.from({ length: 20 }, (_each, index) => ({ key: `sk-${index}` })))).toHaveLength(20);
});

const key = 'sk-canary';

test.each([
  ['broken JSON', '[{"key":"sk-canary"', 'A_KEY: must be a key, or a JSON list'],
  ['an object', { key }, 'A_KEY: must be a key, or a JSON list'],
  ['no credential', [], 'A_KEY: must have at least one credential.'],
  ['too many', Array.from({ length: 21 }, (_each, n) => ({ key: `${key}${n}` })), 'A_KEY: must have at most 20'],
  ['a bare key in the list', [key], 'A_KEY[0]: must be an object'],
  ['an unknown field', [{ key, [key]: 1 }], 'A_KEY[0]: must be an object with key and, if needed, weight and name.'],
  ['no key', [{ weight: 1 }], 'A_KEY[0].key: must be a string.'],
  ['an empty key', [{ key: '' }], 'A_KEY[0].key: must have 1 to 1000 visible ASCII characters.'],
  ['a key with a space', [{ key: `${key} x` }], 'A_KEY[0].key: must have 1 to 1000 visible ASCII characters.'],
  ['a weight below 0', [{ key }, { key: 'b', weight: -1 }], 'A_KEY[1].weight: must be a whole number from 0 to 1000.'],
  ['half a weight', [{ key, weight: 1.5 }], 'A_KEY[0].weight: must be a whole number from 0 to 1000.'],
  ['a heavy weight', [{ key, weight: 1_001 }], 'A_KEY[0].weight: must be a whole number from 0 to 1000.'],
  ['a weight as text', [{ key, weight: key }], 'A_KEY[0].weight: must be a number.'],
  [
    'a name with a space',
    [{ key, name: 'a b' }],
    'A_KEY[0].name: must have 1 to 40 letters, digits and . _ -, of which the first',
  ],
  ['only weights of 0', [{ key, weight: 0 }], 'A_KEY: must have a credential with a weight above 0.'],
  ['a key twice', [{ key }, { key }], 'A_KEY[1]: has the key or the name of an earlier credential.'],
  [
    'a name twice',
    [
      { key, name: 'a' },
      { key: 'b', name: 'a' },
    ],
    'A_KEY[1]: has the key or the name',
  ],
  ['a key as a name', [{ key, name: key }], 'A_KEY[0].name: must not be a key'],
])('ERR-10, ERR-5 %s is an Error with the place, without the value', (_name, value, message) => {
  expect(() => parse(value)).toThrow(message);
  expect(() => parse(value)).toThrow(/^(?!.*canary)/s);
});
