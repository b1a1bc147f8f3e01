import { Marked } from 'marked';

/** HTML of a document, its parts in order. */
export interface RenderedMarkdown {
  /** Text of the first heading. */
  readonly title: string;
  readonly html: string;
}

/** Renders a guide. HTML is shown as text, and a link to another file of the repository becomes its text. */
export const renderMarkdown = (markdown: string): RenderedMarkdown => {
  const slugs = new Map<string, number>();
  let title = '';
  const marked = new Marked({
    async: false,
    renderer: {
      heading({ tokens, depth, text }) {
        title ||= text;
        return `<h${depth} id="${slugOf(text, slugs)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const label = this.parser.parseInline(tokens);
        return /^(https:\/\/|\/|#)/.test(href) ? `<a href="${escapeHtml(href)}">${label}</a>` : label;
      },
      html: ({ text }) => (text.startsWith('<!--') ? '' : escapeHtml(text)),
    },
  });
  const html = marked.parse(markdown, { async: false });
  return {
    title,
    // The keyboard scrolls what has the focus.
    html: html
      .replaceAll('<pre>', '<pre tabindex="0">')
      .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
      .replaceAll('</table>', '</table></div>'),
  };
};

/** The anchor that GitHub gives the heading. */
const slugOf = (text: string, slugs: Map<string, number>): string => {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
  const seen = slugs.get(slug) ?? 0;
  slugs.set(slug, seen + 1);
  return seen === 0 ? slug : `${slug}-${seen}`;
};

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
