/** HTML that needs no escaping. */
export interface Html {
  readonly html: string;
}

/** Text is escaped. `undefined`, `false` and an empty list render as nothing. */
export type HtmlValue = Html | string | number | undefined | false | readonly HtmlValue[];

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Returns the plain text of HTML, with single spaces. */
export const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Marks a string as HTML. */
export const raw = (html: string): Html => ({ html });

const render = (value: HtmlValue): string => {
  if (value === undefined || value === false) return '';
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  if ('html' in value) return value.html;
  return value.map(render).join('');
};

/** Template tag that escapes every value except HTML. */
export const html = (strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html =>
  raw(strings.map((part, index) => part + (index < values.length ? render(values[index]) : '')).join(''));
