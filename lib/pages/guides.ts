import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Tokens } from 'marked';
import { type Description, groupsOf } from './description.ts';
import { codeBlock } from './highlight.ts';
import { type Html, html, raw, textOf } from './html.ts';
import { contentsOf, ERRORS_GUIDE, OVERVIEW, type TextPage } from './layout.ts';
import { renderInline, renderMarkdown } from './markdown.ts';

const folder = join(import.meta.dirname, '../../docs/guides');

/** Guides in the order of the navigation. Other guides follow by name. */
const order = [
  'quick-start',
  'authentication',
  'keys',
  'clients',
  'chat-and-streaming',
  'streaming',
  'tools',
  'images',
  'audio',
  'videos',
  'webhooks',
  'idempotent-requests',
  'errors-and-retries',
  'limits',
  'fallback-models',
  'billing-and-receipts',
];

export interface Guide {
  readonly name: string;
  readonly title: string;
  readonly url: string;
  readonly markdown: string;
}

const rankOf = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);

/** Reads the guides of a folder. An installation without them has none. */
export const readGuides = (from = folder): readonly Guide[] =>
  (existsSync(from) ? globSync('*.md', { cwd: from }) : [])
    .map((file) => basename(file, '.md'))
    .toSorted((one, other) => rankOf(one) - rankOf(other) || one.localeCompare(other))
    .map((name) => {
      const markdown = readFileSync(join(from, `${name}.md`), 'utf8');
      return { name, title: renderMarkdown(markdown).title, url: `${OVERVIEW}/guides/${name}`, markdown };
    });

/** Maps a link between guides, such as `chat-and-streaming.md#fields`, to the page of the guide. */
export const linkTo =
  (guides: readonly Guide[]) =>
  (href: string): string | undefined => {
    const [file = '', anchor] = href.split('#');
    const guide = guides.find(({ name }) => file === `${name}.md`);
    return guide && `${guide.url}${anchor === undefined ? '' : `#${anchor}`}`;
  };

/** Returns the example of an error code in the format of chat completions, else in another one. */
const exampleOf = ({ components: { examples } }: Description, code: string): unknown =>
  Object.entries(examples).find(([name]) => name.endsWith(`.${code}`))?.[1].value;

const cell = (text: string): Html => raw(renderInline(text));

/** Row of the table of error codes. */
export interface ErrorCode {
  readonly status: string;
  readonly code: string;
  /** Markdown of the other columns, by the name of the column. */
  readonly facts: readonly (readonly [name: string, text: string])[];
}

/** Returns the rows of the table of error codes, or undefined for another table. */
export const errorCodesIn = (table: Tokens.Table): readonly ErrorCode[] | undefined => {
  const columns = table.header.map(({ text }) => text);
  if (!columns.includes('status') || !columns.includes('code')) return undefined;
  return table.rows.map((row) => {
    const at = (name: string): string => row[columns.indexOf(name)]?.text ?? '';
    const rest = columns.filter((name) => name !== 'status' && name !== 'code' && at(name));
    const facts = rest.map((name) => [name, at(name)] as const);
    return { status: at('status'), code: at('code').replaceAll('`', ''), facts };
  });
};

/** Shows the rows of the table of codes as a section per code, each with its example. */
const errorEntries = (description: Description, table: Tokens.Table): string | undefined =>
  errorCodesIn(table)
    ?.map(({ status, code, facts }) => {
      const example = exampleOf(description, code);
      const shown = facts.map(([name, text]) => html`<div><dt>${name}</dt><dd>${cell(text)}</dd></div>`);
      return html`<section class="entry"><h3 id="${code}"><span class="status s-${status.charAt(0)}">${status}</span> <code>${code}</code></h3>
<dl>${shown}</dl>${example !== undefined && raw(codeBlock(JSON.stringify(example, null, 2), 'json'))}</section>`.html;
    })
    .join('\n');

/** Removes the reference to the contract, which has no page. */
export const withoutContract = (markdown: string): string =>
  markdown.replace(/,?\s*contract: [^[\]]*\[behaviour\.md\]\([^)]*\)/, '');

/** Page of a guide. */
export const guidePage = (description: Description, guides: readonly Guide[], guide: Guide): TextPage => {
  const isErrors = guide.name === ERRORS_GUIDE;
  const { html: text, headings } = renderMarkdown(withoutContract(guide.markdown), {
    linkOf: linkTo(guides),
    ...(isErrors ? { tableOf: (table: Tokens.Table) => errorEntries(description, table) } : {}),
  });
  return {
    title: guide.title,
    url: guide.url,
    kind: 'guide',
    text: html`<p class="eyebrow">Guides</p><div class="prose">${raw(text)}</div>
<p class="source"><a href="${guide.url}.md">This guide as Markdown</a></p>`,
    contents: contentsOf(headings),
  };
};

/** Splits the HTML of a page at its first heading of the second level. */
const splitIntroduction = (text: string): readonly [string, string] => {
  const at = text.indexOf('<h2');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)];
};

/** First page: the introduction, the guides and all routes. */
export const overviewPage = (description: Description, guides: readonly Guide[]): TextPage => {
  const { html: text, headings } = renderMarkdown(description.info.description);
  const errors = guides.find(({ name }) => name === ERRORS_GUIDE);
  const linked = errors
    ? text.replaceAll(
        /<td><code>([a-z_]+)<\/code><\/td>/g,
        (_, code) => `<td><a href="${errors.url}#${code}"><code>${code}</code></a></td>`,
      )
    : text;
  const [lead, rest] = splitIntroduction(linked);
  const cards = guides.map(
    ({ title, url, markdown }) => html`<li><a href="${url}">${title}</a><p>${summaryOf(markdown)}</p></li>`,
  );
  const routes = groupsOf(description).map(
    (group) =>
      html`<h3>${group.name}</h3>${group.sections.map(
        (section) =>
          html`<h4>${section.name}</h4><p>${raw(renderInline(section.description))}</p><ul class="routes">${section.operations.map(
            ({ method, path, page, summary }) =>
              html`<li><a href="${OVERVIEW}/routes/${page}">${summary}</a> <span class="method m-${method.toLowerCase()}">${method}</span> <code>${path}</code></li>`,
          )}</ul>`,
      )}`,
  );
  const own = [
    { id: 'guides', text: 'Guides', depth: 2 },
    { id: 'routes', text: 'Routes', depth: 2 },
  ];
  return {
    title: 'API reference',
    url: OVERVIEW,
    kind: 'guide',
    text: html`<h1>API reference</h1><div class="prose lead">${raw(lead)}</div>
<p>For programs: <a href="${OVERVIEW}/openapi.json">OpenAPI 3.1</a>, <a href="/llms.txt">llms.txt</a>.</p>
${cards.length > 0 && html`<h2 id="guides">Guides</h2><ul class="cards">${cards}</ul>`}
<h2 id="routes">Routes</h2>${routes}
<div class="prose">${raw(rest)}</div>`,
    contents: contentsOf([...own, ...headings]),
  };
};

/** Returns the first sentence after the title of a guide. */
export const summaryOf = (markdown: string): string => {
  const [, paragraph = ''] = /^# [^\n]*\n+([^\n#|`<][^\n]*(?:\n[^\n]+)*)/.exec(markdown) ?? [];
  const text = textOf(renderInline(paragraph.replaceAll('\n', ' ')));
  return /^.*?[.:](?=\s|$)/.exec(text)?.[0].replace(/:$/, '.') ?? text;
};
