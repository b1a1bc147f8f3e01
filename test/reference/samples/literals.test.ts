import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Expression, printLiteral } from '../../../reference/samples/literals.ts';

test.each([
  ['json', '{"a": [1, true, null], "b": "it\'s"}'],
  ['javascript', "{ a: [1, true, null], b: 'it\\'s' }"],
  ['python', '{"a": [1, True, None], "b": "it\'s"}'],
] as const)('REF-5 a short value in %s is on one line', (language, expected) => {
  expect(printLiteral({ a: [1, true, null], b: "it's" }, language)).toBe(expected);
});

test('REF-5 a value that does not fit on its line has one member per line', () => {
  const value = { text: 'x'.repeat(80), file: new Expression('open("a")') };
  expect(printLiteral(value, 'python')).toBe(`{\n    "text": "${'x'.repeat(80)}",\n    "file": open("a"),\n}`);
  expect(printLiteral(['a'], 'javascript', 1, 100)).toBe("[\n    'a',\n  ]");
});

test('REF-5 a name that is not an identifier is quoted in JavaScript, and an absent member is left out', () => {
  expect(printLiteral({ 'content-type': 'a', b: undefined, c: {} }, 'javascript')).toBe(
    "{ 'content-type': 'a', c: {} }",
  );
});

test('REF-5 printed JSON and JavaScript have the value that they were printed from', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      // JSON has no -0.
      const plain = JSON.parse(JSON.stringify(value));
      expect(JSON.parse(printLiteral(plain, 'json'))).toEqual(plain);
      expect(new Function(`return (${printLiteral(plain, 'javascript')});`)()).toEqual(plain);
    }),
  );
});
