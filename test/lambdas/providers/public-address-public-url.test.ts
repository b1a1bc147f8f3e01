import { expect, test } from 'vitest';
import { parsePublicUrl, publicWeb } from '../../../lambdas/providers/public-address.ts';
import { disguises, inner, innerNames, inUrl, refusedUnasked, spellings, withSpaces } from './hostile-urls.ts';

const parse = (text: string, charactersMax = 400) =>
  parsePublicUrl(text, { charactersMax, reach: publicWeb, inner: 'an internal address' });

test.for([
  ...inner.map(inUrl),
  ...spellings.map((host) => `http://${host}/a.png`),
  ...spellings.map((host) => `https://${host}/hook`),
  ...disguises,
  ...withSpaces,
  'http:127.0.0.1',
  'http:/127.1',
])('CHAT-6, VID-7 %j is an internal address', (url) => {
  expect(parse(url)).toEqual({ problem: 'an internal address' });
});

test.for(Object.entries(refusedUnasked).flatMap(([text, urls]) => urls.map((url) => [url, text] as const)))(
  'CHAT-6, VID-7 %j is rejected: %s',
  ([url, text]) => {
    expect(parse(url)).toEqual({ problem: text });
  },
);

test.for(innerNames)('CHAT-6, VID-7 the name %s is checked only by the lookup', (name) => {
  const url = `http://${name}/`;
  expect(parse(url)).toEqual(URL.canParse(url) ? new URL(url) : { problem: 'this is not a valid URL.' });
});

test.for(['http://a.example', 'https://a.example:8443/a?b=c#d', 'HTTPS://8.8.8.8/', 'http://[2606:4700::1111]:8080/'])(
  'CHAT-6, VID-7 %s is public',
  (url) => {
    expect(parse(url)).toEqual(new URL(url));
  },
);

test('CHAT-6, VID-7 a URL beyond the limit is not parsed', () => {
  const url = `http://a.example/${'a'.repeat(20_000_000)}`;
  expect(parse(url)).toEqual({ problem: 'the URL is longer than 400 characters. Send a shorter one.' });
  expect(parse('http://a.example', 16)).toEqual(new URL('http://a.example'));
  expect(parse('http://a.example', 15)).toHaveProperty('problem');
});
