import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { pageNames } from '../../../lambdas/routes.ts';
import { type BuiltFile, buildFiles, buildPages } from '../../../lib/pages/build-pages.ts';

const pages = await buildPages();
const textOf = (page: string, file: string): string => {
  const found = pages.find((each) => each.page === page && each.file === file);
  return Buffer.from(found?.bytes ?? []).toString();
};

test.each(pageNames)('KEY-4 REF-1 the page %s is built completely and loads nothing from another origin', (page) => {
  const files = pages.filter((each) => each.page === page).map(({ file }) => file);
  expect(files).toEqual(expect.arrayContaining(['index.html', 'main.js', 'main.css']));
  if (page === 'api-reference') expect(files).toContain('llms.txt');
  const html = textOf(page, 'index.html');
  const sources = [...html.matchAll(/(?:\ssrc|rel="stylesheet" href)="([^"]*)"/g)].map(([, source = '']) => source);
  expect(sources.length).toBeGreaterThan(1);
  const prefix = page === 'app' ? '/app/assets/' : `/${page}/`;
  for (const source of sources) {
    expect(source.startsWith(prefix), source).toBe(true);
    expect(files).toContain(source.slice(prefix.length));
  }
});

/** Returns the bytes of the files that a browser loads to show the page, compressed. */
const weightOf = (files: readonly BuiltFile[], html = 'index.html'): number => {
  const names = new Set([html, 'main.js', 'main.css'].map((file) => `${file}.gz`));
  const loaded = files.filter(({ file }) => names.has(file));
  expect(loaded).toHaveLength(3);
  return loaded.reduce((sum, { bytes }) => sum + bytes.length, 0);
};

test.each([
  { folder: 'web/app', budget: 36_000 },
  { folder: 'local/page/ui', budget: 40_000 },
])('KEY-4 REF-7 the page of $folder has less than $budget bytes, compressed', async ({ folder, budget }) => {
  const weight = weightOf(await buildFiles(folder));
  expect(weight).toBeLessThan(budget);
  expect(weight).toBeGreaterThan(budget / 2);
});

test('REF-1 REF-7 every page of the reference has less than 24 KB, compressed', () => {
  const reference = pages.filter(({ page }) => page === 'api-reference');
  const documents = reference.filter(({ file }) => file.endsWith('.html'));
  expect(documents.length).toBeGreaterThan(50);
  for (const { file } of documents) expect(weightOf(reference, file), file).toBeLessThan(24_000);
});

test('REF-7 each file of a page has a compressed form with the same content', () => {
  const sources = pages.filter(({ file }) => !file.endsWith('.gz'));
  expect(pages).toHaveLength(2 * sources.length);
  for (const { page, file, bytes } of sources) {
    const compressed = pages.find((each) => each.page === page && each.file === `${file}.gz`);
    expect(gunzipSync(compressed?.bytes ?? Buffer.alloc(0)), file).toEqual(Buffer.from(bytes));
  }
});

test('KEY-4 the script of the mini app is small enough for a phone without compression', () => {
  expect(textOf('app', 'main.js').length).toBeLessThan(100_000);
});

test('REF-1 a page of the reference has at most 250 KB, and its script and styles have 40 KB', () => {
  const reference = pages.filter(({ page, file }) => page === 'api-reference' && file.endsWith('.html'));
  for (const { file, bytes } of reference) expect(bytes.length, file).toBeLessThan(250_000);
  expect(textOf('api-reference', 'main.js').length + textOf('api-reference', 'main.css').length).toBeLessThan(40_000);
});

test('REF-1 files have the media types that browsers require', () => {
  const types = new Map(pages.map(({ file, mediaType }) => [file.slice(file.lastIndexOf('.')), mediaType]));
  expect(types.get('.html')).toBe('text/html; charset=utf-8');
  expect(types.get('.js')).toBe('text/javascript; charset=utf-8');
  expect(types.get('.css')).toBe('text/css; charset=utf-8');
  expect(types.get('.md')).toBe('text/markdown; charset=utf-8');
  expect(types.get('.txt')).toBe('text/plain; charset=utf-8');
});
