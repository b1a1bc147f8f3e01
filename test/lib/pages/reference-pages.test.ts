import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorCodes } from '../../../lambdas/core/errors/error-codes.ts';
import { matchPath } from '../../../lambdas/http/router.ts';
import { readGuides } from '../../../lib/pages/guides.ts';
import { referenceFiles } from '../../../lib/pages/reference-pages.ts';
import { readReference, referencePath, rowsOf } from '../../support/reference-document.ts';

const files = new Map(
  referenceFiles(readFileSync(referencePath, 'utf8')).map(({ file, bytes }) => [file, Buffer.from(bytes).toString()]),
);
const pages = [...files].filter(([file]) => file.endsWith('.html'));

/** Returns the file of a URL of the reference, or undefined for a route of the gateway. */
const fileOf = (path: string): string | undefined => {
  if (path === '/api-reference') return 'index.html';
  if (path === '/api-reference/clients') return 'guides/clients.html';
  const name = path.replace(/^\/api-reference\//, '');
  if (name === path || /\.(?:css|js|json)$/.test(name)) return undefined;
  return name.endsWith('.md') ? name : `${name}.html`;
};

const problemOf = (from: string, link: string): string | undefined => {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? from : fileOf(path);
  if (file === undefined) return matchPath(path).length > 0 ? undefined : `${from}: ${link}: no route`;
  const text = files.get(file);
  if (text === undefined) return `${from}: ${link}: no page`;
  return anchor === undefined || text.includes(`id="${anchor}"`) ? undefined : `${from}: ${link}: no heading`;
};

test('REF-1 every operation has a page, and every guide has a page and its Markdown', () => {
  expect(pages.filter(([file]) => file.startsWith('routes/'))).toHaveLength(rowsOf(readReference()).length);
  const guides = readGuides();
  expect(guides.length).toBeGreaterThan(10);
  for (const { name, markdown } of guides) {
    expect(files.has(`guides/${name}.html`), name).toBe(true);
    expect(files.get(`guides/${name}.md`)).toBe(markdown);
  }
});

test('REF-1 every link of every page has a target', () => {
  const problems = pages.flatMap(([file, html]) =>
    [...html.matchAll(/href="([^"]*)"/g)]
      .map(([, link = '']) => link.replaceAll('&amp;', '&'))
      .filter((link) => !/^(?:https|data):/.test(link))
      .flatMap((link) => problemOf(file, link) ?? []),
  );
  expect([...new Set(problems)]).toEqual([]);
});

test('REF-1 ids are unique on every page', () => {
  for (const [file, html] of pages) {
    const ids = [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    expect(ids.length, file).toBe(new Set(ids).size);
  }
});

test('REF-3 the page of errors has every code with an example', () => {
  const html = files.get('guides/errors-and-retries.html') ?? '';
  for (const code of errorCodes) {
    const [, entry = ''] = new RegExp(`<h3 id="${code}">(.*?)</section>`, 's').exec(html) ?? [];
    expect(entry, code).toContain('<pre');
    expect(entry, code).toContain(code);
  }
});
