import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { namedRules, rulesIn, rulesNamedIn } from './named-rules.ts';

/** Rules that no quick test names, each with the reason. */
const knownExceptions: Readonly<Record<string, string>> = {};

const listed = rulesIn(readFileSync(join(import.meta.dirname, '../../docs/behaviour.md'), 'utf8'));
const named = namedRules();
const unnamed = [...new Set(listed)].filter((rule) => !named.has(rule));

test('the document has rules, and none twice', () => {
  expect(listed.length).toBeGreaterThan(50);
  expect(listed.filter((rule, index) => listed.indexOf(rule) !== index)).toEqual([]);
});

test('every rule a test names is in the document', () => {
  const missing = [...named].filter(([rule]) => !listed.includes(rule));
  expect(missing.map(([rule, files]) => `${rule} in ${[...files].join(', ')}`)).toEqual([]);
});

test('a quick test names every rule, except the known exceptions', () => {
  for (const rule of unnamed) console.log(`${rule} is not named by a quick test`);
  expect(unnamed.filter((rule) => knownExceptions[rule] === undefined)).toEqual([]);
});

test.each([
  ["test('BILL-9 releases the hold', async () => {", ['BILL-9']],
  ['it("GEN-1, GEN-2 and ERR-8 refuse", () => {', ['GEN-1', 'GEN-2', 'ERR-8']],
  ['test(`LIM-1 $' + '{name}`, () => {', ['LIM-1']],
  ["test.each([1, 2])('CAT-5 fails at %s', (at) => {", ['CAT-5']],
  ["test.each([['AUTH-4', 401]])('%s', (rule) => {", ['AUTH-4']],
  ["  ['AUTH-1 another scheme', 'Basic x'],", ['AUTH-1']],
  ["describe('CHAT-1 fields', () => {", []],
  ["describe('CHAT-1 fields', () => { test('ranges', () => {", []],
  ["expect(text).toBe('UTF-8 is (BILL-3) not one')", []],
  ['// A comment on BILL-3.', []],
])('in %s the rules named are %j', (source, expected) => {
  expect(rulesNamedIn(source)).toEqual(expected);
});

test.each(['skip', 'todo'])('a title of test.%s names no rule', (mode) => {
  expect(rulesNamedIn(`test.${mode}('CHAT-1 fields', () => {`)).toEqual([]);
});
