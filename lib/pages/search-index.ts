import { STATUS_CODES } from 'node:http';
import type { Tokens } from 'marked';
import { type Description, groupsOf, type Operation } from './description.ts';
import { type ErrorCode, errorCodesIn, type Guide, withoutContract } from './guides.ts';
import { textOf } from './html.ts';
import { ERRORS_GUIDE, urlOf } from './layout.ts';
import { renderInline, renderMarkdown } from './markdown.ts';

/** Row of the search index: kind, title, line below it, text that is searched, and URL. */
export type SearchRow = readonly [
  kind: 'Route' | 'Guide' | 'Error',
  title: string,
  context: string,
  text: string,
  url: string,
];

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

/** Returns the row of an error code, with the name of its HTTP status. */
const errorRow = ({ title, url }: Guide, { status, code, facts }: ErrorCode): SearchRow => {
  const text = facts.map(([, each]) => textOf(renderInline(each))).join(' ');
  return ['Error', code, `${status} ${STATUS_CODES[status] ?? ''}, ${title}`, text, `${url}#${code}`];
};

/** One row per part of a guide that has a heading. The table of error codes has a row per code instead. */
const guideRows = (guide: Guide): readonly SearchRow[] => {
  const { name: file, title, url, markdown } = guide;
  const codes: ErrorCode[] = [];
  const takeCodes = (table: Tokens.Table): string | undefined => {
    const found = file === ERRORS_GUIDE ? errorCodesIn(table) : undefined;
    codes.push(...(found ?? []));
    return found && '';
  };
  const parts = renderMarkdown(withoutContract(markdown), { tableOf: takeCodes }).html.split(/(?=<h[123] id=)/);
  const rows = parts.flatMap((part): SearchRow[] => {
    const [, id = '', heading = ''] = /^<h[123] id="([^"]*)">(.*?)<\/h[123]>/.exec(part) ?? [];
    if (id === '') return [];
    const name = textOf(heading);
    const text = textOf(part.slice(part.indexOf('</h')));
    return [name === title ? ['Guide', title, '', text, url] : ['Guide', name, title, text, `${url}#${id}`]];
  });
  return [...rows, ...codes.map((code) => errorRow(guide, code))];
};

/** Rows of every route, every part of a guide and every error code. */
export const searchIndex = (description: Description, guides: readonly Guide[]): readonly SearchRow[] => [
  ...routeRows(description),
  ...guides.flatMap(guideRows),
];
