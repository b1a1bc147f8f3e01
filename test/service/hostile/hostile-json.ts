import fc from 'fast-check';

/**
 * JSON on the wire that a JavaScript object cannot represent: duplicate names, 1e400, half a surrogate pair,
 * `__proto__` as a name.
 */
export type Node =
  | { readonly kind: 'raw'; readonly text: string }
  | { readonly kind: 'array'; readonly items: readonly Node[] }
  | { readonly kind: 'object'; readonly members: readonly Member[] };

type Member = readonly [name: string, value: Node];

export const raw = (text: string): Node => ({ kind: 'raw', text });

export const toNode = (value: unknown): Node => {
  if (Array.isArray(value)) return { kind: 'array', items: value.map(toNode) };
  if (typeof value !== 'object' || value === null) return raw(JSON.stringify(value));
  const members = Object.entries(value).map(([name, member]) => [JSON.stringify(name), toNode(member)] as const);
  return { kind: 'object', members };
};

export const toText = (node: Node): string => {
  if (node.kind === 'raw') return node.text;
  if (node.kind === 'array') return `[${node.items.map(toText).join(',')}]`;
  return `{${node.members.map(([name, value]) => `${name}:${toText(value)}`).join(',')}}`;
};

/** Wraps a value in this many arrays. */
export const nested = (levels: number, inside = '1'): string => `${'['.repeat(levels)}${inside}${']'.repeat(levels)}`;

const many = (entry: (index: number) => string): string =>
  Array.from({ length: 10_000 }, (_, index) => entry(index)).join(',');

const hostileValues: readonly string[] = [
  ...['null', 'true', 'false', '0', '-0', '-1', '1.5', '2', '1e400', '-1e400', '1e308', '5e-324', '9007199254740993'],
  ...['123456789012345678901234567890', '""', '" "', '"\\u0000"', '"\\ud800"', '"\\udfff\\ud800"', '"\\u202e\\ufeff"'],
  ...['"\\r\\nx-injected: 1\\r\\n\\r\\n"', '"__proto__"', '"constructor"', '"gpt-4.1-mini"', '"gpt-5.5-pro"', '"user"'],
  ...['[]', '{}', '[null]', '[[]]', '[{}]', '{"":0}', '{"__proto__":{"polluted":1}}', '["__proto__"]'],
  ...['{"constructor":{"prototype":{"polluted":1}}}', '{"toString":null,"length":-1}', '{"type":"text"}'],
  ...[
    '"data:image/png;base64,AAAA"',
    '"data:text/html,<script>"',
    '"http://[::1"',
    '"file:///etc/passwd"',
    '"javascript:0"',
  ],
  ...[nested(58), nested(62), nested(63), nested(64), nested(65), nested(2_000), `"${'x'.repeat(20_000)}"`],
  ...[`{${many((index) => `"k${index}":${index}`)}}`, `[${many(() => '{}')}]`, `"${'\\u0007'.repeat(500)}"`],
];

const hostileNames: readonly string[] = [
  ...['"__proto__"', '"constructor"', '"prototype"', '"toString"', '"hasOwnProperty"', '""', '"\\u0000"', '"\\ud800"'],
  ...['"model"', '"messages"', '"role"', '"content"', '"type"', '"unknown"', '"a.b"', '"[0]"', '"store"', '"audio"'],
  ...[
    '"web_search_options"',
    '"functions"',
    '"service_tier"',
    '"n"',
    '"stream"',
    '"max_tokens"',
    `"${'n'.repeat(5_000)}"`,
  ],
];

const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...hostileValues) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3, stringUnit: 'binary' }) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)) },
);
const name = fc.oneof(
  fc.constantFrom(...hostileNames),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => JSON.stringify(text)),
);

interface Mutation {
  readonly at: number;
  readonly how: 'replace' | 'remove' | 'add' | 'twice' | 'wrap';
  readonly value: Node;
  readonly name: string;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(10_000),
  how: fc.constantFrom('replace', 'replace', 'remove', 'add', 'add', 'twice', 'wrap'),
  value: value.map(raw),
  name,
});

const sizeOf = (node: Node): number => {
  if (node.kind === 'raw') return 1;
  const inside = node.kind === 'array' ? node.items : node.members.map(([, member]) => member);
  return inside.reduce((sum, member) => sum + sizeOf(member), 1);
};

/** Returns the changed node, or undefined if it is removed. */
const changed = (node: Node, { how, value, name }: Mutation): Node | undefined => {
  if (how === 'remove') return undefined;
  if (how === 'wrap') return { kind: 'array', items: [node] };
  if (how === 'replace' || node.kind === 'raw') return value;
  if (node.kind === 'array') return { kind: 'array', items: [...node.items, value] };
  const [first] = node.members;
  const added: Member = [how === 'twice' && first ? first[0] : name, value];
  return { kind: 'object', members: [...node.members, added] };
};

/** Changes one node, counted in depth-first order from the root. */
const mutate = (root: Node, mutation: Mutation): Node => {
  let left = mutation.at % sizeOf(root);
  const walk = (node: Node): Node | undefined => {
    if (left-- === 0) return changed(node, mutation);
    if (node.kind === 'raw') return node;
    if (node.kind === 'array') return { kind: 'array', items: node.items.flatMap((item) => walk(item) ?? []) };
    return { kind: 'object', members: node.members.flatMap((member) => walkMember(member)) };
  };
  const walkMember = ([name, value]: Member): readonly Member[] => {
    const walked = walk(value);
    return walked ? [[name, walked]] : [];
  };
  return walk(root) ?? raw('');
};

/** One of these bodies with zero to three mutations, as text. */
export const mutatedText = (bodies: readonly object[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...bodies.map(toNode)), fc.array(mutation, { maxLength: 3 }))
    .map(([body, mutations]) => toText(mutations.reduce(mutate, body)));
