import { readDescription } from './description.ts';
import { guidePage, overviewPage, readGuides } from './guides.ts';
import { navigationOf, OVERVIEW, type Page, renderPage } from './layout.ts';
import { operationPage } from './operation-page.ts';
import { searchIndex } from './search-index.ts';

/** File of the reference. Its name can have a folder, such as `guides/keys.html`. */
export interface ReferenceFile {
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** Renders the API reference: an overview, a page per route and per guide, and the search index. */
export const referenceFiles = (json: string, guides = readGuides()): readonly ReferenceFile[] => {
  const description = readDescription(json);
  const navigation = navigationOf(description, guides);
  const toFile = (page: Page): ReferenceFile => ({
    file: page.url === OVERVIEW ? 'index.html' : `${page.url.slice(OVERVIEW.length + 1)}.html`,
    bytes: Buffer.from(renderPage(navigation, page)),
  });
  const routes = navigation.groups.flatMap(({ sections }) =>
    sections.flatMap(({ name, operations }) => operations.map((each) => operationPage(description, name, each))),
  );
  return [
    toFile(overviewPage(description, guides)),
    ...routes.map(toFile),
    ...guides.map((guide) => toFile(guidePage(description, guides, guide))),
    ...guides.map(({ name, markdown }) => ({ file: `guides/${name}.md`, bytes: Buffer.from(markdown) })),
    { file: 'search.json', bytes: Buffer.from(JSON.stringify(searchIndex(description, guides))) },
  ];
};
