/**
 * A comment, a string with a space, a text between tags or a sentence of Markdown. `start` and `end` are offsets in the
 * source.
 */
export interface Prose {
  readonly kind: 'comment' | 'string' | 'tag text' | 'markdown';
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

type Piece = Omit<Prose, 'line' | 'text'>;

/** A slash starts a regular expression after an operator, a bracket that opens or one of these words. */
const token = new RegExp(
  [
    String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)`,
    String.raw`(?<string>'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*")`,
    String.raw`(?<=(?:^|[=(,:!&|?{};[\n+>]|\b(?:return|case|in|of))\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*`,
    '(?<quote>`)',
    '[{}]',
  ].join('|'),
  'g',
);
/** Text of a template up to its end, or up to code in it. */
const templatePart = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])*(?<code>\$\{|`|$)/y;

/** Adds the comments and strings of code up to its closing brace. Returns the offset after it. */
const scanCode = (source: string, from: number, pieces: Piece[]): number => {
  let at = from;
  let depth = 0;
  while (depth >= 0) {
    token.lastIndex = at;
    const found = token.exec(source);
    if (!found) return source.length;
    const { index: start, groups } = found;
    at = groups?.quote ? scanTemplate(source, start, pieces) : start + found[0].length;
    if (groups?.comment) pieces.push({ kind: 'comment', start, end: at });
    if (groups?.string) pieces.push({ kind: 'string', start, end: at });
    depth += { '{': 1, '}': -1 }[found[0]] ?? 0;
  }
  return at;
};

/** Adds a template as one string, and the strings and comments of the code in it. */
const scanTemplate = (source: string, start: number, pieces: Piece[]): number => {
  let at = start + 1;
  for (let isOpen = true; isOpen; ) {
    templatePart.lastIndex = at;
    const part = templatePart.exec(source);
    at += part?.[0].length ?? 1;
    isOpen = part?.groups?.code === '${';
    if (isOpen) at = scanCode(source, at, pieces);
  }
  pieces.push({ kind: 'string', start, end: at });
  return at;
};

const scan = (source: string): readonly Piece[] => {
  const pieces: Piece[] = [];
  let at = 0;
  while (at < source.length) at = scanCode(source, at, pieces);
  return pieces.toSorted((a, b) => a.start - b.start);
};

/** Text of a string without its quotes. Code that `${}` holds is replaced by an ellipsis. */
const textOfString = (raw: string): string =>
  raw.slice(1, -1).replace(/\$\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}/g, '…');

const textOfComment = (raw: string): string =>
  raw
    .replace(/^\/\*+|\*\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*(?:\/\/|\*(?!\*))?\s?/, ''))
    .join('\n')
    .trim();

/** Joins consecutive one-line comments. */
const joined = (source: string, pieces: readonly Piece[]): readonly Piece[] =>
  pieces.reduce<Piece[]>((all, piece) => {
    const last = all.at(-1);
    const isLine = (one: Piece | undefined) => one?.kind === 'comment' && source.startsWith('//', one.start);
    if (last && isLine(last) && isLine(piece) && /^\n[ \t]*$/.test(source.slice(last.end, piece.start))) {
      all[all.length - 1] = { ...last, end: piece.end };
    } else all.push(piece);
    return all;
  }, []);

const lineAt = (source: string, offset: number): number => source.slice(0, offset).split('\n').length;

const proseOfCode = (path: string, source: string): readonly Prose[] => {
  const pieces = joined(source, scan(source)).map((piece) => {
    const raw = source.slice(piece.start, piece.end);
    const text = piece.kind === 'comment' ? textOfComment(raw) : textOfString(raw);
    return { ...piece, line: lineAt(source, piece.start), text };
  });
  const tags = path.endsWith('.tsx') ? [...source.matchAll(/(?<=>)[^<>{}=;()]*[a-z][^<>{}=;()]*(?=<)/g)] : [];
  return [
    ...pieces.filter(({ kind, text }) => kind === 'comment' || /\S\s+\S/.test(text)),
    ...tags.map(({ index, 0: text }) => {
      const place = { start: index, end: index + text.length, line: lineAt(source, index) };
      return { kind: 'tag text' as const, ...place, text };
    }),
  ];
};

/** Paragraphs, headings, list items and table rows outside of code fences. */
const proseOfMarkdown = (source: string): readonly Prose[] => {
  const found: Prose[] = [];
  let start = 0;
  let fenced = false;
  let open: Prose | undefined;
  const close = () => {
    if (open) found.push(open);
    open = undefined;
  };
  source.split('\n').forEach((text, index) => {
    const end = start + text.length;
    if (/^\s*(?:```|~~~)/.test(text)) {
      fenced = !fenced;
      close();
    } else if (fenced || text.trim() === '') close();
    else if (open && !/^\s*(?:[-*|#>]|\d+\.) ?/.test(text)) open = { ...open, end, text: `${open.text}\n${text}` };
    else {
      close();
      open = { kind: 'markdown', line: index + 1, start, end, text };
      if (/^\s*[|#]/.test(text)) close();
    }
    start = end + 1;
  });
  close();
  return found;
};

/** Returns all text for people in a file of TypeScript or Markdown. */
export const readProse = (path: string, source: string): readonly Prose[] =>
  path.endsWith('.md') ? proseOfMarkdown(source) : proseOfCode(path, source);
