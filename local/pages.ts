import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { PageFiles } from '../lambdas/core/images/media.ts';
import { mediaTypeOf, type PageName, pageNames } from '../lambdas/routes.ts';
import { type BuiltFile, buildFiles } from '../lib/pages/build-pages.ts';

/** Where `npm run build:pages` writes, a folder per page. */
export const builtFolder = join(import.meta.dirname, '../built/pages');

/** Folders of the pages' sources. */
export const pageSources = {
  'local-page': 'local/page/ui',
  app: 'web/app',
  'api-reference': 'web/api-reference',
} as const;

export interface LocalPages {
  /** Pages of the gateway. */
  readonly files: PageFiles;
  /** Files of the local page. */
  localPage(): Promise<readonly BuiltFile[]>;
}

export interface LocalPagesOptions {
  /** Uses the pages of `npm run build:pages`, if they exist. Otherwise builds a page when a browser first opens it. */
  readonly prefersBuilt: boolean;
  /** Logs one line for the operator. */
  readonly onFailure: (message: string) => void;
}

/** Pages, each built or read once, when it is first requested. */
export const openLocalPages = ({ prefersBuilt, onFailure }: LocalPagesOptions): LocalPages => {
  const pages = new Map<keyof typeof pageSources, Promise<readonly BuiltFile[]>>();
  const load = async (page: keyof typeof pageSources): Promise<readonly BuiltFile[]> => {
    if (prefersBuilt && hasBuilt(page)) return readBuilt(page);
    try {
      return await build(pageSources[page]);
    } catch (error) {
      if (hasBuilt(page)) return readBuilt(page);
      onFailure(`The page ${page} cannot be built: ${error instanceof Error ? error.message : error}`);
      return [{ file: 'index.html', bytes: Buffer.from(INSTRUCTIONS) }];
    }
  };
  const filesOf = (page: keyof typeof pageSources): Promise<readonly BuiltFile[]> => {
    const known = pages.get(page);
    if (known) return known;
    const loading = load(page);
    pages.set(page, loading);
    return loading;
  };
  return {
    files: {
      open: async (page, file) => {
        const found = isPage(page) ? (await filesOf(page)).find((built) => built.file === file) : undefined;
        return found && { mediaType: mediaTypeOf(file), length: found.bytes.length, bytes: once(found.bytes) };
      },
    },
    localPage: () => filesOf('local-page'),
  };
};

const isPage = (name: string): name is PageName => pageNames.some((page) => page === name);

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}

const hasBuilt = (page: string): boolean => existsSync(join(builtFolder, page, 'index.html'));

const readBuilt = (page: string): readonly BuiltFile[] =>
  readdirSync(join(builtFolder, page), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ file: relative(join(builtFolder, page), path), bytes: readFileSync(path) }));

let builds = 0;

/** esbuild runs as a process of 96 MB, so it is stopped after the last build. */
const build = async (folder: string): Promise<readonly BuiltFile[]> => {
  builds += 1;
  try {
    return await buildFiles(folder);
  } finally {
    builds -= 1;
    if (builds === 0) await (await import('esbuild')).stop();
  }
};

const INSTRUCTIONS = `<!doctype html>
<meta charset="utf-8">
<title>Page not built</title>
<h1>This page is not built</h1>
<p>The package esbuild builds it, and esbuild is not installed for this platform.</p>
<p>Run <code>npm ci</code> without <code>--omit=optional</code>, then <code>npm run build:pages</code>, and start the gateway again.</p>
<p>The API works without it.</p>
`;
