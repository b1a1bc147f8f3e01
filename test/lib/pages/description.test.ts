import { expect, test } from 'vitest';
import {
  examplesOf,
  groupsOf,
  headersOf,
  operationsOf,
  readDescription,
  responsesOf,
} from '../../../lib/pages/description.ts';
import { smallDescription, smallJson } from './small-description.ts';

const description = readDescription(smallJson);
const [talk] = operationsOf(description);
if (!talk) throw new Error('The description has no operation.');

test('REF-1 an operation has the method, the path and the name of its page', () => {
  expect(operationsOf(description).map(({ method, path, page }) => [method, path, page])).toEqual([
    ['POST', '/v1/talks/{id}', 'create-talk'],
    ['POST', '/bot', 'take-update'],
    ['GET', '/rest', 'rest'],
  ]);
});

test('REF-1 sections follow the groups of the description, and a section without a group comes last', () => {
  const shown = groupsOf(description).map(({ name, sections }) => [name, sections.map((section) => section.name)]);
  expect(shown).toEqual([
    ['API', ['Chat']],
    ['Operator and bot', ['Bots']],
    ['Other', ['Rest']],
  ]);
});

test('REF-1 a description without groups has one group in the order of its tags', () => {
  const { 'x-tagGroups': _, ...plain } = smallDescription;
  const [group, ...others] = groupsOf(readDescription(JSON.stringify(plain)));
  expect(group?.sections.map(({ name }) => name)).toEqual(['Bots', 'Chat', 'Rest']);
  expect(others).toEqual([]);
});

test('REF-1 references to responses, headers and examples are resolved', () => {
  const responses = new Map(responsesOf(description, talk));
  expect([...responses.keys()]).toEqual(['200', '404']);
  const [answered, missing] = [responses.get('200'), responses.get('404')];
  expect(answered && headersOf(description, answered)).toEqual([['x-cost', 'Cost in USD.']]);
  const content = missing?.content?.['application/json'];
  expect(content && examplesOf(description, content).map(({ name, value }) => [name, value])).toEqual([
    ['not_found', { error: { code: 'not_found', message: 'There is no such talk.' } }],
  ]);
});

test('REF-1 a description without its paths is rejected', () => {
  expect(() => readDescription(JSON.stringify({ ...smallDescription, paths: undefined }))).toThrow('paths');
});
