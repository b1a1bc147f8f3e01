import type { TextSpan } from './chat-message.ts';

export type Rendered = { readonly text: string; readonly spans: readonly TextSpan[] };

const kinds = new Map<string, TextSpan['kind']>([
  ['b', 'bold'],
  ['code', 'code'],
  ['pre', 'code'],
  ['a', 'link'],
]);

const characters = new Map([
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&amp;', '&'],
  ['&quot;', '"'],
]);

const tokens = /<(\/?)([a-z]+)(?: href="([^"]*)")?>|&[a-z]+;|[^<&]+|[<&]/g;

/**
 * Renders a message with `parse_mode: 'HTML'`, limited to the features that the bot uses. As strict as the messenger:
 * throws an Error for a character that must be escaped, an unknown tag, and a tag that is not closed in order.
 */
export function renderHtml(html: string): Rendered {
  const open: { readonly tag: string; readonly offset: number; readonly url: string | undefined }[] = [];
  const spans: TextSpan[] = [];
  let text = '';
  for (const [token, slash, tag, href] of html.matchAll(tokens)) {
    if (tag === undefined) {
      text += toCharacters(token);
      continue;
    }
    const kind = kinds.get(tag);
    if (!kind) throw new Error(`Unsupported start tag "${tag}"`);
    if (slash === '') {
      open.push({ tag, offset: text.length, url: href && toText(href) });
      continue;
    }
    const begun = open.pop();
    if (begun?.tag !== tag) throw new Error(`Unexpected end tag "${tag}"`);
    const { offset, url } = begun;
    spans.push({ kind, offset, length: text.length - offset, ...(url === undefined ? {} : { url }) });
  }
  if (open.length > 0) throw new Error(`Can't find end tag of "${open.at(-1)?.tag}"`);
  return { text, spans };
}

function toCharacters(token: string): string {
  const character = characters.get(token);
  if (character !== undefined) return character;
  if (token === '<' || token.startsWith('&')) throw new Error('Unescaped character');
  return token;
}

function toText(attribute: string): string {
  return attribute.replaceAll(/&[a-z]+;/g, (name) => characters.get(name) ?? name);
}
