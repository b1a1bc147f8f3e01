import { expect, test } from 'vitest';
import { readDescription } from '../../../lib/pages/description.ts';
import { raw } from '../../../lib/pages/html.ts';
import { contentsOf, navigationOf, renderPage, type TextPage } from '../../../lib/pages/layout.ts';
import { smallJson } from './small-description.ts';

const guide: TextPage = {
  title: 'Start <here>',
  url: '/api-reference/guides/start',
  kind: 'guide',
  text: raw('<h1>Start</h1>'),
  contents: undefined,
};
const navigation = navigationOf(readDescription(smallJson), [{ title: guide.title, url: guide.url }]);
const html = renderPage(navigation, guide);

test('REF-1 the navigation has every guide and route, users first, and marks the page that is open', () => {
  const [, links = ''] = /<nav id="navigation".*?>(.*?)<\/nav>/s.exec(html) ?? [];
  expect([...links.matchAll(/href="([^"]*)"/g)].map(([, url]) => url)).toEqual([
    '/api-reference',
    '/api-reference/guides/start',
    '/api-reference/routes/create-talk',
    '/api-reference/routes/take-update',
    '/api-reference/routes/rest',
  ]);
  expect(links.match(/aria-current="page"/g)).toHaveLength(1);
  expect(links).toContain('href="/api-reference/guides/start" aria-current="page"');
});

test('REF-1 a page escapes its title, skips to its content and has no inline script or style', () => {
  expect(html).toContain('<title>Model gateway: Start &lt;here&gt;</title>');
  expect(html).toContain('href="#main"');
  expect(html).not.toMatch(/<script>|\son\w+=|style=/);
});

test('REF-1 a page links to the pages before and after it', () => {
  expect(html).toMatch(/rel="prev" href="\/api-reference">.*rel="next" href="\/api-reference\/routes\/create-talk"/s);
});

test('REF-2 a guide with one heading has no list of contents', () => {
  const heading = { id: 'a', text: 'A', depth: 2 };
  expect(contentsOf([heading])).toBeUndefined();
  expect(contentsOf([heading, { ...heading, id: 'b' }, { ...heading, id: 'c', depth: 3 }])?.html).not.toContain('#c');
});
