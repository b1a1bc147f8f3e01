import { type Description, groupsOf, readDescription } from './description.ts';
import { type Guide, guidePage, overviewPage, readGuides, summaryOf } from './guides.ts';
import { navigationOf, OVERVIEW, type Page, renderPage, urlOf } from './layout.ts';
import { operationPage } from './operation-page.ts';
import { searchIndex } from './search-index.ts';

/** File of the reference. Its name can have a folder, such as `guides/keys.html`. */
export interface ReferenceFile {
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** Markdown list of the guides and routes, for language models (https://llmstxt.org). */
export const llmsText = (description: Description, guides: readonly Guide[]): string => {
  const listed = guides.map(({ title, url, markdown }) => `- [${title}](${url}.md): ${summaryOf(markdown)}`);
  const routes = groupsOf(description).flatMap(({ name, sections }) => [
    `## ${name}\n`,
    ...sections.flatMap(({ operations }) =>
      operations.map((each) => `- [${each.method} ${each.path}](${urlOf(each)}): ${each.summary}`),
    ),
    '',
  ]);
  const head = `# ${description.info.title}\n\n> HTTP API for models of several providers. [OpenAPI 3.1](${OVERVIEW}/openapi.json) describes every route.\n`;
  return [head, '## Guides\n', ...listed, '', ...routes].join('\n');
};

/** Renders the API reference: an overview, a page per route and per guide, the search index and `llms.txt`. */
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
    { file: 'llms.txt', bytes: Buffer.from(llmsText(description, guides)) },
  ];
};
