import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject, type JsonValue } from '../../../lambdas/core/json.ts';
import { partsOf } from '../../../lambdas/core/json-scan.ts';
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

test('GEN-2 the contents of a long string are not counted', () => {
  for (const length of [14, 15, 16, 17, 18, 31, 32, 33, 1_000]) {
    const text = 'a'.repeat(length);
    for (const end of ['', '\\\\', '\\"', '\\\\\\"{', '\\"{'.repeat(100)])
      expect(countIn(`["${text}${end}",{}]`)).toEqual({ parts: 2, items: 1 });
  }
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

test('GEN-2 the count stops after its maximum', () => {
  const json = Buffer.from(`[${'{},'.repeat(100_000)}{}]`);
  expect(partsOf(json, 100_002).parts).toBe(100_002);
  expect(partsOf(json, 10).parts).toBeLessThan(50_000);
  expect(partsOf(json, 10).parts).toBeGreaterThan(10);
});
