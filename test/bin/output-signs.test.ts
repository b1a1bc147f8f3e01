import { expect, test } from 'vitest';
import { toJson } from '../../bin/output.ts';

test('OPS-5 JSON that is printed commands no terminal and means the same', () => {
  const text = '\u001b]0;owned\u0007\u009b31m\u202e\u200d\u2028\u{e0001} plain';
  const json = toJson({ user: text });
  expect(json).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
  expect(JSON.parse(json)).toEqual({ user: text });
});
