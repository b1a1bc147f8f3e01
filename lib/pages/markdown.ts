import { Marked, type Token, type Tokens } from 'marked';
import { codeBlock } from './highlight.ts';
import { escapeHtml, textOf } from './html.ts';

export interface Heading {
  readonly id: string;
  readonly text: string;
  readonly depth: number;
}

/** HTML of a document, its parts in order. */
export interface RenderedMarkdown {
  /** Text of the first heading. */
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
}

export interface MarkdownOptions {
  /** Returns the target of a link to another file, or undefined if no page shows the file. */
  readonly linkOf?: (href: string) => string | undefined;
  /** Returns the HTML that replaces a table, or undefined for the usual rendering. */
  readonly tableOf?: (table: Tokens.Table) => string | undefined;
}

/** Renders a guide. HTML is shown as text, and a link to a file without a page becomes its text. */
export const renderMarkdown = (markdown: string, options: MarkdownOptions = {}): RenderedMarkdown => {
  const slugs = new Map<string, number>();
  const headings: Heading[] = [];
  const marked = new Marked({
    async: false,
    renderer: {
      heading({ tokens, depth }) {
        const inline = this.parser.parseInline(tokens);
        const heading = { id: slugOf(plainText(tokens), slugs), text: textOf(inline), depth };
        headings.push(heading);
        return `<h${depth} id="${heading.id}">${inline}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const label = this.parser.parseInline(tokens);
        const target = isOwnLink(href) ? href : options.linkOf?.(href);
        return target === undefined ? label : `<a href="${escapeHtml(target)}">${label}</a>`;
      },
      code: ({ text, lang }) => codeBlock(text, lang),
      table(token) {
        const replaced = options.tableOf?.(token);
        if (replaced !== undefined) return replaced;
        const cells = (row: readonly Tokens.TableCell[], tag: 'th' | 'td'): string =>
          row
            .map(({ tokens, text }) => {
              // A header without text is not a header.
              const name = text === '' ? 'td' : tag;
              return `<${name}>${this.parser.parseInline(tokens)}</${name}>`;
            })
            .join('');
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        const head = `<thead><tr>${cells(token.header, 'th')}</tr></thead>`;
        return `<div class="table" tabindex="0"><table>${head}<tbody>${rows}</tbody></table></div>\n`;
      },
      html: ({ text }) => (text.startsWith('<!--') ? '' : escapeHtml(text)),
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { title: headings[0]?.text ?? '', html, headings };
};

const inline = new Marked({
  async: false,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    link({ href, tokens }) {
      const label = this.parser.parseInline(tokens);
      return isOwnLink(href) ? `<a href="${escapeHtml(href)}">${label}</a>` : label;
    },
  },
});

/** Renders one line or paragraph of Markdown without its paragraph element. */
export const renderInline = (markdown: string): string => inline.parseInline(markdown, { async: false });

/** Links that need no page of another file: to an HTTPS URL, to a path of the gateway and to an anchor. */
const isOwnLink = (href: string): boolean => /^(https:\/\/|\/|#)/.test(href);

const plainText = (tokens: readonly Token[]): string =>
  tokens.map((token) => ('tokens' in token && token.tokens ? plainText(token.tokens) : textIn(token))).join('');

const textIn = (token: Token): string => ('text' in token ? String(token.text) : token.raw);

/** Returns the anchor that GitHub gives the heading. */
const slugOf = (text: string, slugs: Map<string, number>): string => {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
  const seen = slugs.get(slug) ?? 0;
  slugs.set(slug, seen + 1);
  return seen === 0 ? slug : `${slug}-${seen}`;
};
