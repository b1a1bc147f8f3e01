import { isValid, sign, signData } from '@telegram-apps/init-data-node';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  INIT_DATA_READING_MS,
  INIT_DATA_ROTATION_MS,
  readInitData,
} from '../../../../lambdas/core/accounts/init-data.ts';
import { randomRuns } from '../../../support/random-runs.ts';

const runs = randomRuns(import.meta.filename, { quick: 200, long: 20_000 });

const TOKEN = '123456:token-of-the-tests';
const SIGNED_AT_MS = Date.UTC(2026, 10, 1);
const SIGNED_AT = String(SIGNED_AT_MS / 1_000);
const user = { id: 4711, first_name: 'Анна & Söhne = 100% + 1', username: 'anna', language_code: 'ru' };

const genuine = (more: object = {}): string =>
  sign({ user, query_id: 'AAF', chat_instance: '-37', chat_type: 'private', ...more }, TOKEN, new Date(SIGNED_AT_MS));

const read = (text: string, nowMs = SIGNED_AT_MS + 1_000, token = TOKEN) => readInitData(token, text, nowMs);

type Pairs = readonly (readonly [string, string])[];

/** Signs `pairs` with a correct hash, which requires the bot token. */
const signed = (pairs: Pairs, token = TOKEN): string => {
  const lines = pairs.map(([name, value]) => `${name}=${value}`).toSorted();
  return written([...pairs, ['hash', signData(lines.join('\n'), token)]]);
};
const written = (pairs: Pairs): string =>
  new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value])).toString();
const pairsOf = (text: string): [string, string][] => [...new URLSearchParams(text)];
const ofUser = (json: string): Pairs => [
  ['user', json],
  ['auth_date', SIGNED_AT],
];
const ANNA = ofUser(JSON.stringify(user));

test('KEY-5 data signed by an independent library is genuine, with and without `signature`', () => {
  expect(read(genuine())).toEqual({ chatId: '4711', ageMs: 1_000 });
  expect(read(genuine({ signature: 'zL-ucjNyREiHDE8aihFwpfR9aggP2xiAo3NSpfe-p7IbCisNlDKlo7Kb6G4D0Ao2' }))).toEqual({
    chatId: '4711',
    ageMs: 1_000,
  });
  expect(isValid(signed(ANNA), TOKEN, { expiresIn: 0 })).toBe(true);
  expect(read(signed(ANNA))).toEqual({ chatId: '4711', ageMs: 1_000 });
});

test('KEY-5 a user with any characters in the name, or without a name, is identified', () => {
  for (const first_name of ['', '&=+%20;#\n\u2028', '😀', '{"id":1}', '\\u0000"']) {
    expect(read(genuine({ user: { id: 1, first_name } }))).toMatchObject({ chatId: '1' });
  }
  expect(read(signed(ofUser('{"id":9007199254740991}')))).toMatchObject({ chatId: '9007199254740991' });
});

test('KEY-5 data is valid for an hour after its signature and for 10 s before it', () => {
  expect(INIT_DATA_READING_MS).toBe(3_600_000);
  expect(INIT_DATA_ROTATION_MS).toBe(600_000);
  const text = genuine();
  for (const [ageMs, isGood] of [
    [3_600_000, true],
    [3_600_001, false],
    [86_400_000, false],
    [0, true],
    [-10_000, true],
    [-10_001, false],
    [-3_600_000, false],
  ] as const) {
    expect([ageMs, read(text, SIGNED_AT_MS + ageMs)]).toEqual([ageMs, isGood ? { chatId: '4711', ageMs } : undefined]);
  }
});

test('KEY-5 the data of another bot is rejected', () => {
  const text = genuine();
  for (const token of ['123457:token-of-the-tests', '123456:token-of-the-testS', '']) {
    expect(read(text, SIGNED_AT_MS, token)).toBeUndefined();
  }
  expect(read(signed(ANNA, '1:other'))).toBeUndefined();
});

const without = (name: string): Pairs => pairsOf(genuine()).filter(([own]) => own !== name);
const changed = (name: string, change: (value: string) => string): string =>
  written(pairsOf(genuine()).map(([own, value]) => [own, own === name ? change(value) : value]));
const hash = new URLSearchParams(genuine()).get('hash') ?? '';
const reversed = (json: string): string =>
  JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(json)).toReversed()));

test.each([
  ['no hash', written(without('hash'))],
  ['an empty hash', changed('hash', () => '')],
  ['half a hash', changed('hash', (value) => value.slice(0, 32))],
  ['an uppercase hash', changed('hash', (value) => value.toUpperCase())],
  ['extra characters after the hash', changed('hash', (value) => `${value}zz`)],
  ['the hash twice', changed('hash', (value) => `${value}${value}`)],
  ['a hash that is not hexadecimal', changed('hash', () => 'z'.repeat(64))],
  ['another user', changed('user', (json) => json.replace('4711', '4712'))],
  ['another date', changed('auth_date', (value) => String(Number(value) + 1))],
  ['the user removed', written(without('user'))],
  ['the query id removed', written(without('query_id'))],
  ['an extra field', written([['start_param', 'x'], ...pairsOf(genuine())])],
  ['the members of the user reordered', changed('user', (json) => reversed(json))],
  ['spaces in the user', changed('user', (json) => json.replace(',', ', '))],
])('KEY-5 genuine data with %s is rejected', (_what, text) => {
  expect(text).not.toBe(genuine());
  expect(read(text)).toBeUndefined();
});

test('KEY-5 data with two swapped values is rejected', () => {
  const pairs = pairsOf(genuine()).slice(0, -1);
  for (const [one] of pairs.entries()) {
    for (const other of Array.from({ length: one }, (_, index) => index)) {
      const values = pairs.map(([, value]) => value);
      [values[one], values[other]] = [values[other] ?? '', values[one] ?? ''];
      expect(
        read(written([...pairs.map(([name], at): [string, string] => [name, values[at] ?? '']), ['hash', hash]])),
      ).toBeUndefined();
    }
  }
});

test('KEY-5 a repeated field is rejected, even if it is signed', () => {
  expect(read(signed([...ANNA, ['user', '{"id":1}']]))).toBeUndefined();
  expect(read(signed([['auth_date', '1'], ...ANNA]))).toBeUndefined();
  expect(read(`hash=${hash}&${genuine()}`)).toBeUndefined();
  expect(read(`${genuine()}&user=1`)).toBeUndefined();
  expect(read(`${genuine()}&hash=${hash}`)).toBeUndefined();
});

test('KEY-5 data whose last field is not the hash is rejected', () => {
  const [first, ...rest] = pairsOf(signed(ANNA)).toReversed();
  expect(read(written([...(first ? [first] : []), ...rest]))).toBeUndefined();
  expect(read(`${signed(ANNA)}&`)).toMatchObject({ chatId: '4711' });
});

test('KEY-5 data with two fields merged into one is rejected, although the hash matches', () => {
  const [[, json], date] = [ANNA[0] ?? ['', ''], `auth_date=${SIGNED_AT}`];
  const genuineHash = new URLSearchParams(signed(ANNA)).get('hash') ?? '';
  for (const pairs of [
    [['auth_date', `${SIGNED_AT}\nuser=${json}`]],
    [[`auth_date=${SIGNED_AT}\nuser`, json]],
    [[`${date}\nuser=${json.slice(0, 5)}`, json.slice(5)]],
  ] as Pairs[]) {
    expect(read(written([...pairs, ['hash', genuineHash]]))).toBeUndefined();
  }
  // A reader could see two fields where the sender signed one.
  expect(read(signed([['query_id', `1\nuser={"id":1}`], ...ANNA]))).toBeUndefined();
  expect(read(signed([['a=b', 'c'], ...ANNA]))).toBeUndefined();
});

test.each([
  ['nothing', ''],
  ['no pairs', 'hello'],
  ['only a hash', `hash=${hash}`],
  ['an object', '{"user":{"id":1}}'],
  ['broken escapes', '%=%&user=%7B%22id%22&hash=%'],
  ['nothing, signed', signed([])],
  ['no user, signed', signed([['auth_date', SIGNED_AT]])],
  ['no date, signed', signed(ANNA.slice(0, 1))],
  ['an invalid date, signed', signed([...ANNA.slice(0, 1), ['auth_date', 'soon']])],
  ['an empty date, signed', signed([...ANNA.slice(0, 1), ['auth_date', '']])],
  ['an infinite date, signed', signed([...ANNA.slice(0, 1), ['auth_date', 'Infinity']])],
  ...[
    '',
    'null',
    '[]',
    '"4711"',
    '4711',
    '{}',
    '{"id":"4711"}',
    '{"id":0}',
    '{"id":-4711}',
    '{"id":4711.5}',
    '{"id":9007199254740992}',
    '{"id":1e999}',
    '{"id":null}',
    '{"id":[4711]}',
    '{"id":{"id":4711}}',
    '{"id":4711',
    'id=4711',
  ].map((json) => [`the user ${json}, signed`, signed(ofUser(json))]),
])('KEY-5 %s identifies no user', (_what, text) => {
  expect(read(text ?? '')).toBeUndefined();
});

test('KEY-5 data longer than 8192 characters is rejected', () => {
  const of = (length: number): string => {
    const rest = signed([['start_param', ''], ...ANNA]).length;
    return signed([['start_param', 'x'.repeat(length - rest)], ...ANNA]);
  };
  expect([of(8_192).length, read(of(8_192))]).toEqual([8_192, { chatId: '4711', ageMs: 1_000 }]);
  expect(read(of(8_193))).toBeUndefined();
  expect(read(of(5_000_000))).toBeUndefined();
});

test('KEY-5 data with one changed character is rejected, unless the fields stay the same', () => {
  const text = genuine();
  const before = JSON.stringify(pairsOf(text));
  const anything = fc.oneof(
    fc.constantFrom(...'0123456789abcdefABCDEF%&=+;?#{}":, \n'),
    fc.string({ minLength: 1, maxLength: 2 }),
  );
  fc.assert(
    fc.property(fc.nat({ max: text.length - 1 }), anything, (place, character) => {
      const other = `${text.slice(0, place)}${character}${text.slice(place + 1)}`;
      fc.pre(other !== text);
      // `%7B` and `%7b` decode to the same character.
      if (JSON.stringify(pairsOf(other)) === before) expect(read(other)).toMatchObject({ chatId: '4711' });
      else expect(read(other)).toBeUndefined();
    }),
    runs,
  );
});

test('KEY-5 data with one character more or less is rejected, unless the fields stay the same', () => {
  const text = genuine();
  const before = JSON.stringify(pairsOf(text));
  for (const place of text.split('').keys()) {
    for (const other of [
      `${text.slice(0, place)}${text.slice(place + 1)}`,
      `${text.slice(0, place)}${text[place]}${text.slice(place)}`,
    ]) {
      if (JSON.stringify(pairsOf(other)) !== before) expect(read(other)).toBeUndefined();
    }
  }
});

test('KEY-5 random data identifies no user and never throws', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webQueryParameters()), fc.boolean(), (text, hasHash) => {
      expect(read(hasHash ? `${text}&hash=${hash}` : text)).toBeUndefined();
    }),
    runs,
  );
});
