import { type Description, groupsOf, type Operation, type SectionGroup } from './description.ts';
import { type Html, html, raw } from './html.ts';
import type { Heading } from './markdown.ts';

/** Guide in the navigation. */
export interface GuideLink {
  readonly title: string;
  readonly url: string;
}

/** Content of the navigation, the same on every page. */
export interface Navigation {
  readonly guides: readonly GuideLink[];
  readonly groups: readonly SectionGroup[];
}

export const navigationOf = (description: Description, guides: readonly GuideLink[]): Navigation => ({
  guides,
  groups: groupsOf(description),
});

export const OVERVIEW = '/api-reference';

/** Guide with the errors, whose table of codes becomes a section with an example per code. */
export const ERRORS_GUIDE = 'errors-and-retries';

export const urlOf = ({ page }: Pick<Operation, 'page'>): string => `${OVERVIEW}/routes/${page}`;

interface Document {
  readonly title: string;
  readonly url: string;
}

/** Guide or overview: one column of text, with its contents beside it. */
export interface TextPage extends Document {
  readonly kind: 'guide';
  readonly text: Html;
  readonly contents: Html | undefined;
}

/** Route: its examples are beside its fields, or between the introduction and the fields on a narrow screen. */
export interface RoutePage extends Document {
  readonly kind: 'route';
  readonly introduction: Html;
  readonly examples: Html;
  readonly fields: Html;
}

export type Page = TextPage | RoutePage;

/** Method as a word in its color. */
export const methodBadge = (method: string): Html =>
  html`<span class="method m-${method.toLowerCase()}">${method}</span>`;

const current = (isHere: boolean): Html | false => isHere && raw(' aria-current="page"');

const navigationLink = (label: HtmlLabel, url: string, here: string): Html =>
  html`<li><a href="${url}"${current(url === here)}>${label}</a></li>`;

type HtmlLabel = Html | string;

const navigationItems = ({ guides, groups }: Navigation, here: string): Html => {
  const listed = [{ title: 'Overview', url: OVERVIEW }, ...guides];
  return html`<h2>Guides</h2><ul>${listed.map(({ title, url }) => navigationLink(title, url, here))}</ul>${groups.map(
    (group) =>
      html`<h2>${group.name}</h2>${group.sections.map(
        ({ name, operations }) =>
          html`<details${operations.some((each) => urlOf(each) === here) && raw(' open')}><summary>${name}</summary><ul>${operations.map(
            (each) => navigationLink(html`<span>${each.summary}</span> ${methodBadge(each.method)}`, urlOf(each), here),
          )}</ul></details>`,
      )}`,
  )}`;
};

const icons = {
  search: '<path d="M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14Zm5 12 5 5" />',
  menu: '<path d="M4 7h16M4 12h16M4 17h16" />',
  theme: '<path d="M12 3a9 9 0 1 0 0 18Zm0 0a9 9 0 0 1 0 18" />',
} as const;

const icon = (name: keyof typeof icons): Html =>
  raw(`<svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">${icons[name]}</svg>`);

const header = html`<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<button class="icon menu" type="button" popovertarget="navigation" aria-label="Menu">${icon('menu')}</button>
<a class="brand" href="${OVERVIEW}">Model gateway <span>API reference</span></a>
<button class="find" type="button" aria-label="Search" aria-keyshortcuts="/ Control+K" hidden>${icon('search')}<span>Search</span><kbd>/</kbd></button>
<button class="icon theme" type="button" hidden>${icon('theme')}</button>
</header>`;

/** The dialog, with links to the guides for a search that finds nothing. */
const searchDialog = ({ guides }: Navigation): Html => html`<dialog class="search" aria-label="Search">
<form method="dialog"><input type="search" aria-label="Search guides, routes and errors" placeholder="Search guides, routes and errors" autocomplete="off" spellcheck="false" /><button type="submit">Close</button></form>
<p class="count" role="status"></p>
<div class="hint" hidden><p>Try other words, the name of a field or an error code. Or read a guide:</p><ul>${guides.map(
  ({ title, url }) => html`<li><a href="${url}">${title}</a></li>`,
)}</ul></div>
<ul class="found"></ul>
</dialog>`;

/** Links to the headings of a guide. */
export const contentsOf = (headings: readonly Heading[]): Html | undefined => {
  const shown = headings.filter(({ depth }) => depth === 2);
  if (shown.length < 2) return undefined;
  const links = shown.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`);
  return html`<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${links}</ul></nav>`;
};

/** Links to the pages before and after this one, in the order of the navigation. */
const turns = ({ guides, groups }: Navigation, here: string): Html | undefined => {
  const all = [
    { title: 'Overview', url: OVERVIEW },
    ...guides,
    ...groups.flatMap(({ sections }) =>
      sections.flatMap(({ operations }) => operations.map((each) => ({ title: each.summary, url: urlOf(each) }))),
    ),
  ];
  const index = all.findIndex(({ url }) => url === here);
  if (index < 0) return undefined;
  const [before, after] = [all[index - 1], all[index + 1]];
  return html`<nav class="turns" aria-label="Previous and next page">${
    before && html`<a rel="prev" href="${before.url}"><span>Previous</span> ${before.title}</a>`
  }${after && html`<a rel="next" href="${after.url}"><span>Next</span> ${after.title}</a>`}</nav>`;
};

const content = (navigation: Navigation, page: Page): Html => {
  const ends = turns(navigation, page.url);
  if (page.kind === 'guide')
    return html`<main id="main" tabindex="-1">
${page.text}
${ends}
</main>
${page.contents && html`<aside aria-label="Contents">${page.contents}</aside>`}`;
  return html`<main id="main" tabindex="-1">
<div class="introduction">${page.introduction}</div>
<div class="examples">${page.examples}</div>
<div class="details">${page.fields}
${ends}</div>
</main>`;
};

/** Returns a whole page. It works without its script, except search, tabs, copying, sending and the choice of a theme. */
export const renderPage = (navigation: Navigation, page: Page): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>Model gateway: ${page.title}</title>
<link rel="icon" href="data:," />
<link rel="canonical" href="${page.url}" />
<link rel="stylesheet" href="/api-reference/main.css" />
<script type="module" src="/api-reference/main.js" blocking="render"></script>
</head>
<body class="${page.kind}">
${header}
<nav id="navigation" class="navigation" popover aria-label="API reference">${navigationItems(navigation, page.url)}</nav>
${content(navigation, page)}
${searchDialog(navigation)}
</body>
</html>
`.html;
