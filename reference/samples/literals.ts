/** Expression of a language inside a value, such as an opened file. Printed as it is. */
export class Expression {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** JSON value that can contain expressions. */
export type Literal = string | number | boolean | null | Expression | readonly Literal[] | LiteralObject;
interface LiteralObject {
  readonly [name: string]: Literal | undefined;
}

/** Syntax of a language's literals. */
interface Syntax {
  readonly atom: (value: string | number | boolean | null) => string;
  readonly member: (name: string) => string;
  /** Spaces between the braces of an object on one line. */
  readonly padding: string;
  readonly indent: string;
  readonly trailingComma: string;
}

const jsonSyntax: Syntax = {
  atom: (value) => JSON.stringify(value),
  member: (name) => `${JSON.stringify(name)}: `,
  padding: '',
  indent: '  ',
  trailingComma: '',
};

/** String in single quotes, as JavaScript code is usually written. */
const toJavaScriptString = (value: string): string =>
  `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

/** Prints the name of a member. A plain `__proto__` would set the prototype. */
const javaScriptName = (name: string): string => {
  if (name === '__proto__') return "['__proto__']";
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : toJavaScriptString(name);
};

const javaScriptSyntax: Syntax = {
  atom: (value) => (typeof value === 'string' ? toJavaScriptString(value) : JSON.stringify(value)),
  member: (name) => `${javaScriptName(name)}: `,
  padding: ' ',
  indent: '  ',
  trailingComma: ',',
};

const pythonNames = new Map<unknown, string>([
  [true, 'True'],
  [false, 'False'],
  [null, 'None'],
]);

const pythonSyntax: Syntax = {
  atom: (value) => pythonNames.get(value) ?? JSON.stringify(value),
  member: (name) => `${JSON.stringify(name)}: `,
  padding: '',
  indent: '    ',
  trailingComma: ',',
};

export const syntaxes = { json: jsonSyntax, javascript: javaScriptSyntax, python: pythonSyntax } as const;
export type Language = keyof typeof syntaxes;

/** Longest line, in characters, of a value that is printed on one line. */
const LINE_CHARACTERS_MAX = 88;

/**
 * Prints a value as code. A value that does not fit on the rest of its line has one member per line. `column` is the
 * number of characters before the value, and `depth` the number of indents of its line.
 */
export const printLiteral = (value: Literal, language: Language, depth = 0, column = 0): string => {
  const syntax = syntaxes[language];
  const short = onOneLine(value, syntax);
  if (column + short.length <= LINE_CHARACTERS_MAX || isAtom(value)) return short;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const lines = membersOf(value, syntax).map(([prefix, member]) => {
    const start = syntax.indent.repeat(depth + 1) + prefix;
    return `${start}${printLiteral(member, language, depth + 1, start.length + 1)}`;
  });
  return `${open}\n${lines.join(',\n')}${syntax.trailingComma}\n${syntax.indent.repeat(depth)}${close}`;
};

type Atom = string | number | boolean | null;

const isAtom = (value: Literal): value is Atom | Expression =>
  typeof value !== 'object' || value === null || value instanceof Expression;

const isList = (value: Literal): value is readonly Literal[] => Array.isArray(value);

const membersOf = (
  value: readonly Literal[] | LiteralObject,
  syntax: Syntax,
): readonly (readonly [prefix: string, member: Literal])[] =>
  isList(value)
    ? value.map((member) => ['', member])
    : Object.entries(value).flatMap(([name, member]) =>
        member === undefined ? [] : [[syntax.member(name), member] as const],
      );

const onOneLine = (value: Literal, syntax: Syntax): string => {
  if (value instanceof Expression) return value.source;
  if (isAtom(value)) return syntax.atom(value);
  const inner = membersOf(value, syntax)
    .map(([prefix, member]) => `${prefix}${onOneLine(member, syntax)}`)
    .join(', ');
  if (isList(value)) return `[${inner}]`;
  return inner === '' ? '{}' : `{${syntax.padding}${inner}${syntax.padding}}`;
};
