import { type Description, groupsOf, type Operation } from './description.ts';
import type { Guide } from './guides.ts';
import { textOf } from './html.ts';
import { urlOf } from './layout.ts';
import { renderInline, renderMarkdown } from './markdown.ts';

/** Row of the search index: kind, title, line below it, text that is searched, and URL. */
export type SearchRow = readonly [kind: 'Route' | 'Guide', title: string, context: string, text: string, url: string];

const fieldsOf = ({ requestBody, parameters = [] }: Operation, { components }: Description): readonly string[] => [
  ...parameters.map(({ name }) => name),
  ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => {
    const name = schema?.$ref?.split('/').at(-1) ?? '';
    return Object.keys((components.schemas[name] ?? schema)?.properties ?? {});
  }),
];

const routeRows = (description: Description): readonly SearchRow[] =>
  groupsOf(description).flatMap(({ sections }) =>
    sections.flatMap((section) =>
      section.operations.map((operation): SearchRow => {
        const about = textOf(renderInline(operation.description ?? ''));
        const text = [about, section.name, operation.operationId, ...fieldsOf(operation, description)];
        const context = `${operation.method} ${operation.path}`;
        return ['Route', operation.summary, context, text.join(' '), urlOf(operation)];
      }),
    ),
  );

/** One row per part of a guide that has a heading. */
const guideRows = ({ title, url, markdown }: Guide): readonly SearchRow[] =>
  renderMarkdown(markdown)
    .html.split(/(?=<h[123] id=)/)
    .flatMap((part): SearchRow[] => {
      const [, id = '', heading = ''] = /^<h[123] id="([^"]*)">(.*?)<\/h[123]>/.exec(part) ?? [];
      if (id === '') return [];
      const name = textOf(heading);
      const text = textOf(part.slice(part.indexOf('</h')));
      return [name === title ? ['Guide', title, '', text, url] : ['Guide', name, title, text, `${url}#${id}`]];
    });

/** Rows of every route and every part of a guide. */
export const searchIndex = (description: Description, guides: readonly Guide[]): readonly SearchRow[] => [
  ...routeRows(description),
  ...guides.flatMap(guideRows),
];
