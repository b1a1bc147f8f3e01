import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromFileName, toFileName } from '../../../../local/stores/files/file-names.ts';

test.each([
  ['01JC8Z.0', '01JC8Z.0'],
  ['account-1/answer', 'account-1%2Fanswer'],
  ['../up', '%2E.%2Fup'],
  ['dot.', 'dot%2E'],
  ['NUL.mp4', '%4EUL.mp4'],
  ['com1', '%63om1'],
  ['console', 'console'],
  ['a:b*c%', 'a%3Ab%2Ac%25'],
  ['é', '%C3%A9'],
])('the file name of %s is %s', (name, fileName) => {
  expect(toFileName(name)).toBe(fileName);
});

test('every name has its own file name that is valid on every platform', () => {
  const names = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 16 }),
    fc.constantFrom('con', 'Aux.x', 'lpt9.'),
  );
  fc.assert(
    fc.property(names, (name) => {
      const fileName = toFileName(name);
      expect(fileName).toMatch(/^(?!\.)(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[\w.%-]+(?<!\.)$/i);
      expect(fromFileName(fileName)).toBe(name);
    }),
  );
});

test.each(['', 'x'.repeat(201), '\ud800'])('%j cannot be a file name', (name) => {
  expect(() => toFileName(name)).toThrow('cannot be a file name');
});
