import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonScan } from '../../../lambdas/core/json-scan.ts';
import { addedByParsing, atOnce, parseBody, scanBody } from '../../../lambdas/http/json-body.ts';
import { BODY_BYTES_MAX, BODY_PARTS_MAX } from '../../../lambdas/limits.ts';
import { randomRuns } from '../../support/random-runs.ts';

const read = (text: string | Uint8Array) => {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  return atOnce(parseBody(bytes, atOnce(scanBody(bytes))));
};

/** Reads a body in pieces of a few bytes, and scans it in steps of a few bytes. */
const readInPieces = (text: string, pieceBytes = 1, stepBytes = 1) => {
  const bytes = Buffer.from(text);
  const scan = new JsonScan(bytes, pieceBytes);
  for (let limit = stepBytes; !scan.scanTo(limit); ) limit += stepBytes;
  return atOnce(parseBody(bytes, scan));
};

const nested = (depth: number, open: string, close: string): string =>
  `{"a":${open.repeat(depth - 1)}1${close.repeat(depth - 1)}}`;

const malformed = { code: 'invalid_request_error', status: 400 };

test.for([
  '',
  ' \n',
  '{',
  '{"a":1',
  '{"a":1}}',
  "{'a':1}",
  '{"a":1,}',
  '{"a":NaN}',
  '{"a":01}',
  '{"a":"\n"}',
  '{"a":"\\u12"}',
  '[{}]',
  '"text"',
  '1',
  'null',
])('GEN-2 %j is 400', (text) => {
  expect(() => read(text)).toThrow(expect.objectContaining(malformed));
});

test.for([[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe6, 0x97]])(
  'GEN-2 the bytes %j are not UTF-8',
  (bytes) => {
    const text = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);
    expect(() => read(text)).toThrow(
      expect.objectContaining({ ...malformed, message: expect.stringMatching(/UTF-8/) }),
    );
  },
);

test('GEN-2 all of Unicode is accepted, including escaped lone surrogates', () => {
  expect(read('{"日本":"🌍\\u0000","b":"\\ud800"}')).toEqual({ 日本: '🌍\u0000', b: '\ud800' });
});

test('GEN-2 a byte order mark is ignored', () => {
  expect(read(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"a":1}')]))).toEqual({ a: 1 });
});

for (const [name, open, close] of [
  ['arrays', '[', ']'],
  ['objects', '{"a":', '}'],
] as const) {
  test(`GEN-2 64 levels of ${name} are accepted, and 65 or a hundred thousand are 400`, () => {
    expect(() => read(nested(64, open, close))).not.toThrow();
    expect(() => read(nested(65, open, close))).toThrow(expect.objectContaining(malformed));
    expect(() => read(nested(100_000, open, close))).toThrow(expect.objectContaining(malformed));
  });
}

test('GEN-2 the largest numbers are accepted', () => {
  expect(read('{"a":1.7976931348623157e308,"b":5e-324,"c":-0}')).toEqual({ a: Number.MAX_VALUE, b: 5e-324, c: -0 });
});

test('GEN-2 members can have the names of built-in ones, such as constructor', () => {
  const body = read('{"constructor":1,"toString":{"hasOwnProperty":2}}');
  expect(body).toEqual({ constructor: 1, toString: { hasOwnProperty: 2 } });
});

test.for([
  ['{"__proto__":{"polluted":true}}', '__proto__'],
  ['{"a":[{"__proto__":1}]}', 'a[0].__proto__'],
] as const)('GEN-2 %s gets an error that names it and changes nothing', ([text, param]) => {
  expect(() => read(text)).toThrow(expect.objectContaining({ ...malformed, param }));
  expect({}).not.toHaveProperty('polluted');
});

test('ERR-5 no message quotes the body', () => {
  for (const text of ['{"canary', 'canary', '["canary"]', '{"a":"canary"']) {
    expect(() => read(text)).toThrow(expect.objectContaining({ message: expect.not.stringContaining('canary') }));
  }
});

test.for([
  ['{"a":1e400}', 'a'],
  ['{"a":-1e309}', 'a'],
  ['{"a":{"b":[0,{"c":1e400}]}}', 'a.b[1].c'],
  ['{"a":[[0,-1e400]]}', 'a[0][1]'],
] as const)('GEN-2, GEN-4 the number out of range in %s is 400 with param %s', ([text, param]) => {
  expect(() => read(text)).toThrow(
    expect.objectContaining({ ...malformed, param, message: expect.stringContaining(param) }),
  );
});

test.for([
  ['{"a":1,\n "b": secret}', 'The body is not valid JSON at line 2, column 7. '],
  [`{"a":1${'\n'.repeat(20_000)}secret}`, 'The body is not valid JSON at character 20007. '],
  ['{"a": "secret"', 'The body ends before its JSON is complete. '],
  ['{"a": "secret', 'The body ends before its JSON is complete. '],
  ['secret', 'The body is not valid JSON at line 1, column 1. '],
] as const)('GEN-2 the message for %j has the place and no part of the body', ([text, message]) => {
  let thrown: unknown;
  try {
    read(text);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ status: 400, message: expect.stringContaining(message) });
  expect(inspect(thrown)).not.toContain('secret');
});

const added = (bytes: Uint8Array): number => addedByParsing(atOnce(scanBody(bytes)), bytes.length);

/** A body with this many parts, of which most are in the given list. */
const withParts = (parts: number, item: string, partsOfItem: number): Buffer =>
  Buffer.from(`{"a":[${Array.from({ length: (parts - 3) / partsOfItem }, () => item).join()}]}`);

test.each([
  ['objects', '{}', 1],
  ['arrays', '[]', 1],
  ['members', '{"b":{}}', 3],
] as const)('GEN-2 a body with one part too many is 400, and its text is not counted: %s', (_, item, partsOfItem) => {
  const limit = BODY_PARTS_MAX - ((BODY_PARTS_MAX - 3) % partsOfItem);
  const longest = withParts(limit, item, partsOfItem);
  const items = (limit - 3) / partsOfItem - 1;
  expect(added(longest)).toBe(64 * limit + 24 * items - longest.length);
  expect(() => added(withParts(limit + partsOfItem, item, partsOfItem))).toThrow(
    'The body has more than 100000 objects, arrays and member names. Send fewer.',
  );
  const text = JSON.stringify({ a: `\\"${item.repeat(BODY_PARTS_MAX)}` });
  expect(added(Buffer.from(text))).toBe(0);
});

test('GEN-14 a body counts with 24 bytes for each further item, and up to 262,144 bytes are free', () => {
  const numbers = (items: number): Buffer => Buffer.from(`{"a":[0${',0'.repeat(items)}]}`);
  expect(added(numbers(1_000_000))).toBe(3 * 64 + 24_000_000 - 2_000_009);
  expect([added(numbers(10_914)), added(numbers(10_915))]).toEqual([0, 8]);
});

test.for([
  ['{"a":[1,2,3],"b":{"c":4,"d":[5,[6,7],{}]},"e":"x"}'],
  ['{"a":[[[[1,2],[3]],[]],{"b":{},"c":[]}]}'],
  ['{"a":[1,2],"a":[3,4],"b":{"c":[1],"c":[2,3]}}'],
  ['{"b":1,"2":[1,2],"1":{"0":[3,4],"a":5}}'],
  ['{"a":" ,\\"],{","é,]":["日,","🌍",","]}'],
  [' {\n"a" : [ 1 , 2 ] , "b" : [ [ ] , { } , 3 ] } \n'],
] as const)('GEN-2 %s has the same value in pieces', ([text]) => {
  for (const pieceBytes of [1, 2, 5, 10]) expect(readInPieces(text, pieceBytes)).toEqual(JSON.parse(text));
  expect(JSON.stringify(readInPieces(text))).toBe(JSON.stringify(JSON.parse(text)));
});

test.for([
  ['{"a":[1,2,]}', ' at line 1, column 11.'],
  ['{"a":[1,,2]}', ''],
  ['{"a":[,1,2]}', ' at line 1, column 7.'],
  ['{"a":[[1,2],]}', ' at line 1, column 13.'],
  ['{"a":[1,2}}', ' at line 1, column 10.'],
  ['{"a":[1,2] "b":1}', ' at line 1, column 12.'],
  ['{"a":[1,2]}]', ' at line 1, column 12.'],
  ['{"a":[1,2]}{}', ' at line 1, column 12.'],
  ['{},{"a":1,"b":2}', '. '],
  ['{"é":[1,\n2 3]}', ' at line 2, column 3.'],
  ['{"a":[1,\ufeff2]}', ''],
] as const)('GEN-2 %j is 400 also in pieces, with the place', ([text, place]) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(() => readInPieces(text)).toThrow(
    expect.objectContaining({ ...malformed, message: expect.stringContaining(`The body is not valid JSON${place}`) }),
  );
});

test.for(['{"a":[1,2', '{"a":[1,', '{"a":[1,2],"b', '{"a":[1,2]'])('GEN-2 %j in pieces ends too early', (text) => {
  expect(() => readInPieces(text)).toThrow('The body ends before its JSON is complete. ');
});

test.for([
  ['{"a":[1,2,{"b":[3,1e400]}]}', 'a[2].b[1]'],
  ['{"a":[1,2,{"b":[3,{"__proto__":1}]}]}', 'a[2].b[1].__proto__'],
  ['{"a":{"b":1,"c":[[1,2],[1e400,3]]}}', 'a.c[1][0]'],
] as const)('GEN-2, GEN-4 the mistake in %s has the param %s also in pieces', ([text, param]) => {
  expect(() => readInPieces(text)).toThrow(expect.objectContaining({ ...malformed, param }));
});

/** Names without escapes, because V8 can confuse others: https://github.com/nodejs/node/issues/63785 */
const names = fc.string({ unit: fc.constantFrom('a', '1', '0', ',', '[', '}', 'é', '日'), maxLength: 3 });
const texts = fc.string({ unit: fc.constantFrom('"', '\\', '{', ']', ':', ',', '\ufeff', '🌍'), maxLength: 6 });
const { value: values } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(texts, fc.double({ noDefaultInfinity: true, noNaN: true }), fc.constantFrom(true, null)),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(names, tie('value'), { maxKeys: 5 }),
  ),
}));

test('GEN-2 a body is valid and has the same value whether it is parsed whole or in pieces', () => {
  const change = fc.record({
    at: fc.nat(),
    without: fc.nat({ max: 1 }),
    text: fc.constantFrom('', ',', ']', '[', '}', '"', '0'),
  });
  const property = fc.property(
    values,
    fc.option(change),
    fc.nat({ max: 20 }),
    fc.nat({ max: 9 }),
    (value, changed, pieceBytes, stepBytes) => {
      let text = JSON.stringify({ a: value, b: [value] }, null, stepBytes % 2);
      const at = changed && changed.at % (text.length + 1);
      if (changed && at !== null) text = text.slice(0, at) + changed.text + text.slice(at + changed.without);
      const outcomes = [() => read(text), () => readInPieces(text, pieceBytes, stepBytes + 1)].map((parse) => {
        try {
          return JSON.stringify(parse());
        } catch (error) {
          expect(error).toMatchObject({ status: 400 });
          return 'invalid';
        }
      });
      expect(outcomes[1]).toBe(outcomes[0]);
    },
  );
  fc.assert(property, randomRuns(import.meta.filename, { quick: 300, long: 20_000 }));
});

test('GEN-17 a long string is decoded, parsed and returned in three steps', () => {
  const bytes = Buffer.from(`{"a":"${'a'.repeat(200_000)}"}`);
  const steps = parseBody(bytes, atOnce(scanBody(bytes)));
  expect(Array.from({ length: 3 }, () => steps.next().done)).toEqual([false, false, true]);
});

test('GEN-17 a body of 20 MiB is scanned and parsed in hundreds of steps', () => {
  const bytes = Buffer.from(`{"a":[${'0,'.repeat(BODY_BYTES_MAX / 2 - 5)}0]}`);
  const stepsOf = <Result>(steps: Generator<undefined, Result>): readonly [number, Result] => {
    for (let count = 1; ; count += 1) {
      const step = steps.next();
      if (step.done) return [count, step.value];
    }
  };
  const [scanned, scan] = stepsOf(scanBody(bytes));
  const [parsed, body] = stepsOf(parseBody(bytes, scan));
  expect([scanned, parsed]).toEqual([40, 323]);
  expect(body.a).toHaveLength(BODY_BYTES_MAX / 2 - 4);
});
