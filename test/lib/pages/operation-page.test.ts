import { expect, test } from 'vitest';
import { operationsOf, readDescription } from '../../../lib/pages/description.ts';
import { textOf } from '../../../lib/pages/html.ts';
import { operationPage } from '../../../lib/pages/operation-page.ts';
import { smallJson } from './small-description.ts';

const description = readDescription(smallJson);
const [talk, update] = operationsOf(description);
if (!talk || !update) throw new Error('The description lacks operations.');
const page = operationPage(description, 'Chat', talk);

test('REF-1 the page of a route has its method, path, text, credential and parameters', () => {
  expect(textOf(page.introduction.html)).toBe('Chat Create a talk POST /v1/talks/{id} Uses model . <b>');
  const text = textOf(page.fields.html);
  expect(text).toContain('Authentication API key.');
  expect(text).toContain('Path parameters id string required');
  expect(text).toContain('Headers X-Dry string A dry run. Values: true');
});

test('REF-1 code samples are in tabs of one language each, and a second kind has its own tabs', () => {
  const [request, stream] = page.examples.html.split('<section class="tabs"').slice(1);
  expect(request).toContain('aria-label="Request" data-group="language"');
  expect([...(request ?? '').matchAll(/data-label="([^"]*)"/g)].map(([, label]) => label)).toEqual(['curl', 'Python']);
  expect(stream).toContain('aria-label="Request: stream"');
});

test('REF-1 a success shows one example per form, and its headers', () => {
  const text = textOf(page.examples.html);
  expect(text).toMatch(/Response 200 .*"model" : "answered" .*200 stream data: \[DONE\]/);
  expect(textOf(page.fields.html)).toContain('x-cost Cost in USD.');
});

test('REF-1 an error shows its example, and its code links to the page of errors', () => {
  expect(page.fields.html).toContain('href="/api-reference/guides/errors-and-retries#not_found"');
  expect(textOf(page.fields.html)).toMatch(/404 Not Found not_found when it is missing\..*There is no such talk\./);
});

test('REF-1 further request examples are on the page', () => {
  expect(textOf(page.fields.html)).toMatch(/Request examples Plain .*"m".* other .*"n"/);
});

test('REF-1 only a route with an API key and JSON has a form that sends a request', () => {
  expect(page.examples.html).toContain('data-method="POST" data-path="/v1/talks/{id}" data-key="authorization"');
  expect(page.examples.html).toContain('name="path:id" value="talk-1" required');
  expect(operationPage(description, 'Bots', update).examples.html).not.toContain('<form');
});
