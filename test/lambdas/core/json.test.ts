import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isJsonObject,
  type JsonValue,
  mistakeIn,
  parseJson,
  partsOf,
  refuseManyParts,
} from '../../../lambdas/core/json.ts';
import { randomRuns } from '../../support/random-runs.ts';

const countIn = (text: string) => partsOf(Buffer.from(text));

test.for([
  ['', 0, 0],
  ['"a"', 0, 0],
  ['{}', 1, 0],
  ['[0,0]', 1, 1],
  ['{"a":0,"b":[]}', 4, 1],
  ['[{},{}]', 3, 1],
  ['[[[', 3, 0],
  ['[1,', 1, 1],
] as const)('GEN-2 %j has %i objects, arrays and names, and %i further items', ([text, parts, items]) => {
  expect(countIn(text)).toEqual({ parts, items });
});

test.for(['{[:,', '\\"{', '\\\\', '\\\\\\"[', '\\\\\\\\', '\\u007b', '日{', '\\ud800,'])(
  'GEN-2 the contents of the string "%s" are not counted',
  (content) => {
    expect(countIn(`["${content}",{"${content}":"${content}"}]`)).toEqual({ parts: 3, items: 1 });
  },
);

test.for(['"', '"\\', '"\\"', '"{{,,', '"a\\"{{,,', '"\\\\\\"{{,,'])(
  'GEN-2 a string without an end extends to the end: [%s',
  (text) => {
    expect(countIn(`[${text}`)).toEqual({ parts: 1, items: 0 });
  },
);

/** Fails without a mistake. */
const mistakeOf = (text: string): number | undefined => {
  try {
    parseJson(text);
  } catch (error) {
    return mistakeIn(text, error);
  }
  throw new Error(`valid: ${text}`);
};

test.for([
  ['{"a":bc}', 5],
  ['{"a":1,}', 7],
  ['[1,]', 3],
  ["{'a':1}", 1],
  ['{"a":nulL}', 8],
  ['{"a":1} x', 8],
  ['{"a":"b\nc"}', 7],
  ['{"x": " JSON at position 3", "a": NaN}', 34],
  [`["${'a'.repeat(4_000)}",True]`, 4_004],
] as const)('GEN-2 the first mistake in %j is found', ([text, offset]) => {
  expect(mistakeOf(text)).toBe(offset);
});

test('GEN-2 an unexpected token beyond the searched characters has no place', () => {
  expect(mistakeOf(`["${'a'.repeat(5_000)}",True]`)).toBeUndefined();
  expect(mistakeOf(`["${'a'.repeat(5_000)}" 1]`)).toBe(5_004);
});

test('GEN-2 every start of a JSON text is cut off, and a character after it is the first mistake', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, place) => {
      const start = `[${text}`.slice(0, 1 + (place % (text.length + 1)));
      expect(mistakeOf(start)).toBe(start.length);
      expect(mistakeOf(`[${text}] $`)).toBe(text.length + 3);
      expect(mistakeOf(`[${text},$`)).toBe(text.length + 2);
    }),
    randomRuns(import.meta.filename, { quick: 200, long: 5_000 }),
  );
});

/** Counts in the value itself, by the definitions. */
const countOf = (value: JsonValue | undefined): { parts: number; items: number } => {
  if (typeof value !== 'object' || value === null) return { parts: 0, items: 0 };
  const members = isJsonObject(value) ? Object.values(value) : value;
  const count = { parts: isJsonObject(value) ? 1 + members.length : 1, items: Math.max(0, members.length - 1) };
  for (const { parts, items } of members.map(countOf)) {
    count.parts += parts;
    count.items += items;
  }
  return count;
};

/** Writes every character of strings and names as an escape. */
const escaped = (value: JsonValue): string => {
  const quoted = (text: string): string =>
    `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(escaped).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, member]) => `${quoted(name)}:${escaped(member ?? null)}`)}}`;
};

const texts = fc.oneof(
  fc.string({ unit: fc.constantFrom('"', '\\', '{', '[', ':', ',', 'u', 'é', '\n', '\ud800'), maxLength: 8 }),
  fc.string({ unit: 'binary' }),
);
const { value: values } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    texts,
    fc.oneof(fc.double({ noDefaultInfinity: true, noNaN: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(texts, tie('value'), { maxKeys: 5 }),
  ),
}));

test('GEN-2 a text is counted as its value, whatever its strings, escapes and white space', () => {
  const property = fc.property(values, fc.constantFrom(2, '\n\t'), (value, space) => {
    const count = countOf(value);
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, space), escaped(value)])
      expect(countIn(text)).toEqual(count);
  });
  fc.assert(property, randomRuns(import.meta.filename, { quick: 200, long: 20_000 }));
});

test('GEN-2 the count stops above its maximum', () => {
  const json = Buffer.from(`[${'{},'.repeat(1_000)}{}]`);
  expect([10, 1_001, 5_000].map((most) => partsOf(json, most).parts)).toEqual([11, 1_002, 1_002]);
});

test('ERR-9 a response of more than 5,000,000 objects is a SyntaxError before it is parsed', () => {
  const text = `[${'{},'.repeat(5_000_000)}{}]`;
  const refusal = new SyntaxError('more than 5000000 objects, arrays and member names');
  expect(() => parseJson(text)).toThrow(refusal);
  expect(() => refuseManyParts(Buffer.from(text))).toThrow(refusal);
});

test('ERR-9 a response of millions of numbers or of any text has no such limit', () => {
  for (const text of [`[${'0,'.repeat(6_000_000)}0]`, JSON.stringify('{[:'.repeat(2_000_000))])
    expect(() => refuseManyParts(Buffer.from(text))).not.toThrow();
});
