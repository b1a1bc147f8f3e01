import { expect, test } from 'vitest';
import { References } from '../../../../lambdas/protocols/chat-completions/schema-references.ts';

const to = (name: string) => ({ $ref: `#/$defs/${name}` });
const root = {
  properties: { 'a/b': { type: 'string' }, list: [{ type: 'null' }], a: to('A') },
  $defs: { A: { items: to('B') }, B: { anyOf: [to('A'), to('C')] }, C: { type: 'null' }, D: { not: to('D') } },
};
const references = new References({ ...root, allOf: [to('D')] });

test.each([
  ['#/properties/a~1b', { type: 'string' }],
  ['#/properties/list/0', { type: 'null' }],
  ['#/$defs/C', { type: 'null' }],
  ['#/$defs/toString', undefined],
  ['other.json#/$defs/C', undefined],
  ['#/properties/%E0%A4%A', undefined],
])('CHAT-8 the reference %s leads to %j', (pointer, schema) => {
  expect(references.resolve(pointer)).toEqual(schema);
});

test.each([
  ['A', 'B', true],
  ['B', 'A', true],
  ['D', 'D', true],
  ['A', 'C', false],
  ['C', 'C', false],
  ['A', 'D', false],
])('CHAT-8 %s and %s contain each other: %j', (one, other, isLoop) => {
  expect(references.areLooped(to(one).$ref, to(other).$ref)).toBe(isLoop);
});

test('CHAT-8 a long chain of references is followed in bounded time', () => {
  const $defs = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`A${at}`, to(`A${at + 1}`)]));
  expect(new References({ ...to('A0'), $defs }).areLooped('#/$defs/A0', '#/$defs/A1')).toBe(false);
});
