import { STATUS_CODES } from 'node:http';
import {
  type Content,
  type Description,
  type Example,
  examplesOf,
  headersOf,
  type Operation,
  type Parameter,
  type Response,
  responsesOf,
} from './description.ts';
import { codeBlock } from './highlight.ts';
import { type Html, html, raw } from './html.ts';
import { ERRORS_GUIDE, methodBadge, OVERVIEW, type RoutePage, urlOf } from './layout.ts';
import { renderInline, renderMarkdown } from './markdown.ts';
import { renderField, renderSchema } from './schema-view.ts';
import { sendForm } from './send-form.ts';

/** Returns an example as text: JSON for a value, the text itself for a string such as a stream. */
const textOfExample = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

const languageOf = (value: unknown): string | undefined => (typeof value === 'string' ? undefined : 'json');

/** Page that explains every error code. */
const ERRORS = `${OVERVIEW}/guides/${ERRORS_GUIDE}`;

/** Code of one tab. */
interface Tab {
  readonly label: string;
  readonly code: string;
  readonly language: string | undefined;
}

/** Panels one below the other. The script of the page turns them into tabs, and a choice of language holds for all pages. */
const tabs = (title: string, shown: readonly Tab[], group?: string, bar?: string): Html | undefined =>
  shown.length === 0
    ? undefined
    : html`<section class="tabs" aria-label="${title}"${group !== undefined && html` data-group="${group}"`}><h2>${title}</h2>${shown.map(
        ({ label, code, language }) =>
          html`<div class="panel" data-label="${label}"><h3>${label}</h3>${raw(codeBlock(code, language, bar))}</div>`,
      )}</section>`;

/** One group of tabs per kind of sample. A label such as `curl, stream` has its kind after the comma. */
const requestTabs = (operation: Operation): readonly (Html | undefined)[] => {
  const samples = operation['x-codeSamples'] ?? [];
  const kinds = Map.groupBy(samples, ({ label }) => label.split(', ')[1] ?? '');
  return [...kinds].map(([kind, ofKind]) =>
    tabs(
      kind === '' ? 'Request' : `Request: ${kind}`,
      ofKind.map(({ label, source, lang }) => ({ label: label.split(', ')[0] ?? label, code: source, language: lang })),
      'language',
      `${operation.method} ${operation.path}`,
    ),
  );
};

const isSuccess = (status: string): boolean => status.startsWith('2');

const exampleTab = (label: string, { value }: Example): Tab => ({
  label,
  code: textOfExample(value),
  language: languageOf(value),
});

/** One tab per form of a success, with its first example. */
const responseTabs = (description: Description, operation: Operation): Html | undefined => {
  const shown = responsesOf(description, operation)
    .filter(([status]) => isSuccess(status))
    .flatMap(([status, { content = {} }]) =>
      Object.entries(content).flatMap(([type, each]) =>
        examplesOf(description, each)
          .slice(0, 1)
          .map((example) => exampleTab(`${status} ${shortType(type)}`, example)),
      ),
    );
  return tabs('Response', shown);
};

const shortType = (type: string): string => {
  if (type === 'text/event-stream') return 'stream';
  if (type.includes('dry-run')) return 'dry run';
  return type === 'application/json' ? '' : type;
};

const requestExamples = (description: Description, { requestBody }: Operation): Html | undefined => {
  const examples = Object.values(requestBody?.content ?? {}).flatMap((each) => examplesOf(description, each));
  if (examples.length < 2) return undefined;
  return html`<section><h2 id="request-examples">Request examples</h2>${examples.map(
    ({ summary, value }) =>
      html`<details><summary>${summary}</summary>${raw(codeBlock(textOfExample(value), languageOf(value)))}</details>`,
  )}</section>`;
};

const places = [
  ['path', 'Path parameters'],
  ['query', 'Query parameters'],
  ['header', 'Headers'],
] as const;

const parameters = (description: Description, all: readonly Parameter[]): readonly Html[] =>
  places.flatMap(([place, title]) => {
    const here = all.filter(({ in: where }) => where === place);
    const items = here.map(({ name, schema = {}, required = false, description: text }) => {
      return html`<li>${renderField(description, { name, schema, isRequired: required, text })}</li>`;
    });
    return items.length === 0 ? [] : [html`<section><h2>${title}</h2><ul class="fields">${items}</ul></section>`];
  });

/** Shows the fields of each content. Contents with the same fields, such as JSON and a form, keep their own lists. */
const contents = (description: Description, all: Readonly<Record<string, Content>>): readonly Html[] =>
  Object.entries(all).map(([type, { schema }]) => {
    const fields = schema && renderSchema(description, schema);
    return html`<p class="media"><code>${type}</code></p>${fields}`;
  });

const requestBody = (description: Description, { requestBody: body }: Operation): Html | undefined =>
  body && html`<section><h2>Request body</h2>${contents(description, body.content)}</section>`;

const errorExamples = (description: Description, { content = {} }: Response): readonly Html[] =>
  Object.values(content).flatMap((each) =>
    examplesOf(description, each).map(
      ({ name, value }) =>
        html`<h3><a href="${ERRORS}#${name}"><code>${name}</code></a></h3>${raw(codeBlock(textOfExample(value), languageOf(value)))}`,
    ),
  );

const responseHeaders = (description: Description, response: Response): Html | undefined => {
  const items = headersOf(description, response).map(
    ([name, text]) =>
      html`<li><p class="head"><code class="name">${name}</code></p><p>${raw(renderInline(text))}</p></li>`,
  );
  return items.length === 0
    ? undefined
    : html`<details><summary>Headers</summary><ul class="fields">${items}</ul></details>`;
};

const statusOf = (status: string): Html =>
  html`<span class="status s-${status.charAt(0)}">${status}</span> ${STATUS_CODES[status]}`;

/** Shows one response. Errors are closed: their fields are those of every error, and their examples differ. */
const renderResponse = (description: Description, [status, response]: readonly [string, Response]): Html => {
  const text = html`<div class="prose">${raw(renderMarkdown(response.description).html)}</div>`;
  if (isSuccess(status))
    return html`<h3 id="${status}">${statusOf(status)}</h3>${text}${responseHeaders(description, response)}${contents(description, response.content ?? {})}`;
  return html`<details class="error" id="${status}"><summary>${statusOf(status)}</summary>${text}${errorExamples(description, response)}</details>`;
};

const responses = (description: Description, operation: Operation): Html => {
  const all = responsesOf(description, operation);
  const failed = all.filter(([status]) => !isSuccess(status));
  return html`<section><h2>Responses</h2>${all
    .filter(([status]) => isSuccess(status))
    .map((each) => renderResponse(description, each))}</section>${
    failed.length > 0 &&
    html`<section><h2 id="errors">Errors</h2>${failed.map((each) => renderResponse(description, each))}</section>`
  }`;
};

const credentials = (description: Description, { security = [] }: Operation): Html => {
  const texts = security
    .flatMap((each) => Object.keys(each))
    .flatMap((name) => description.components.securitySchemes[name]?.description ?? []);
  if (texts.length === 0) return html`<p>This route needs no API key.</p>`;
  const items = texts.map((text) => html`<li>${raw(renderInline(text))}</li>`);
  return html`<ul>${items}</ul>`;
};

/** Page of one operation: its text and fields, and examples beside them. */
export const operationPage = (description: Description, section: string, operation: Operation): RoutePage => ({
  title: operation.summary,
  url: urlOf(operation),
  kind: 'route',
  introduction: html`<p class="eyebrow">${section}</p>
<h1>${operation.summary}</h1>
<p class="route">${methodBadge(operation.method)} <code>${operation.path}</code></p>
<div class="prose">${raw(renderMarkdown(operation.description ?? '').html)}</div>`,
  examples: html`${requestTabs(operation)}${sendForm(description, operation)}${responseTabs(description, operation)}`,
  fields: html`<section><h2>Authentication</h2>${credentials(description, operation)}</section>
${parameters(description, operation.parameters ?? [])}
${requestBody(description, operation)}
${requestExamples(description, operation)}
${responses(description, operation)}`,
});
