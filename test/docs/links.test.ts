import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { matchPath } from '../../lambdas/http/router.ts';
import { anchorsIn, linksIn } from './markdown.ts';

const root = join(import.meta.dirname, '../..');
const files = globSync('{*.md,{docs,bench,bin,lib,lambdas,catalog,web,test}/**/*.md}', { cwd: root });

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Returns the problem of a link whose target does not exist, or undefined. */
const broken = (file: string, link: string): string | undefined => {
  if (/^[a-z]+:/.test(link)) return undefined;
  const [path = '', anchor] = link.split('#');
  // Pages that the gateway serves link to its routes.
  if (path.startsWith('/'))
    return matchPath(path).length > 0 ? undefined : `${file}: ${link}: the route does not exist`;
  const target = path === '' ? file : relative(root, join(root, dirname(file), decodeURIComponent(path)));
  if (!existsSync(join(root, target))) return `${file}: ${link}: the file does not exist`;
  if (anchor === undefined || !target.endsWith('.md') || anchorsIn(read(target)).includes(anchor)) return undefined;
  return `${file}: ${link}: the heading does not exist`;
};

test('documents and links in them are found', () => {
  expect(files).toContain('README.md');
  expect(files.flatMap((file) => linksIn(read(file))).length).toBeGreaterThan(20);
});

test('every link between documents has a target', () => {
  const links = files.flatMap((file) => linksIn(read(file)).map((link) => broken(file, link)));
  expect(links.filter((problem) => problem !== undefined)).toEqual([]);
});

test.each([
  ['See [it](docs/a.md#b), ![pic](p.png "title") and `[no](x.md)`.', ['docs/a.md#b', 'p.png']],
  ['```\n[no](x.md)\n```\n\n[yes](y.md)', ['y.md']],
  ['| [one](a.md) | [two](#b) |', ['a.md', '#b']],
  ['[text][name]\n\n[name]: z.md', ['z.md']],
])('in %j the links are %j', (text, expected) => {
  expect(linksIn(text)).toEqual(expected);
});

test.each([
  ['# A Web Function, twice\n## A Web Function, twice', ['a-web-function-twice', 'a-web-function-twice-1']],
  ['### `late_settlement`', ['late_settlement']],
  ['## [x](y.md) & z', ['x--z']],
  ['```\n# no heading\n```', []],
  ['<a id="here"></a>', ['here']],
])('in %j the anchors are %j', (text, expected) => {
  expect(anchorsIn(text)).toEqual(expected);
});
