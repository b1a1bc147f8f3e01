import type { PageFile } from '../../lib/pages/build-pages.ts';

export interface ReferencePage {
  readonly path: string;
  /** Pages of one kind have the same structure. */
  readonly kind: 'overview' | 'route' | 'guide' | 'errors' | 'clients';
}

const ROOT = '/api-reference';

/** Returns the pages of the reference: the overview, then routes and guides in the order of the navigation. */
export const referencePages = (pages: readonly PageFile[]): readonly ReferencePage[] =>
  pages
    .filter(({ page, file }) => page === 'api-reference' && file.endsWith('.html'))
    .map(({ file }) => file.slice(0, -'.html'.length))
    .map((name) => ({ path: name === 'index' ? ROOT : `${ROOT}/${name}`, kind: kindOf(name) }));

const kindOf = (name: string): ReferencePage['kind'] => {
  if (name === 'index') return 'overview';
  if (name === 'guides/errors-and-retries') return 'errors';
  if (name === 'guides/clients') return 'clients';
  return name.startsWith('routes/') ? 'route' : 'guide';
};
