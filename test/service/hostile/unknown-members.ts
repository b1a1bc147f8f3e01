import fc from 'fast-check';
import type { RecordedRequest } from '../../../local/simulators/server.ts';

/** Part of every added name and value. JSON encodings do not change it, so a search finds it anywhere. */
export const UNHEARD = 'knunheard';

export interface Enlarged {
  /** Body before the additions. */
  readonly good: object;
  readonly body: object;
  /** Paths of the added members. */
  readonly added: readonly string[];
}

type Path = readonly (string | number)[];

/** Objects whose members the client chooses. The gateway forwards them unchanged. */
const clientsOwn: ReadonlySet<string> = new Set([
  ...['schema', 'parameters', 'input_schema', 'responseSchema', 'parametersJsonSchema', 'responseJsonSchema'],
  ...['args', 'response', 'metadata', 'labels', 'logit_bias', 'extra_content'],
]);

/** Whether each member is a tool of its own (GEM-1), so an unknown one is an unknown tool: 400. */
const isToolByMember = (value: object): boolean => 'functionDeclarations' in value || 'function_declarations' in value;

/** Paths of the objects of a body that have a fixed list of members. */
const objectsIn = (value: unknown, path: Path = []): readonly Path[] => {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => objectsIn(item, [...path, index]));
  const name = path.at(-1);
  // The input of a tool call is an object. The input of a request is text or a list.
  if (typeof name === 'string' && (clientsOwn.has(name) || name === 'input')) return [];
  const inside = Object.entries(value).flatMap(([member, inner]) => objectsIn(inner, [...path, member]));
  return isToolByMember(value) ? inside : [path, ...inside];
};

const withMember = (value: unknown, [step, ...rest]: Path, name: string, member: unknown): unknown => {
  if (step === undefined) return { ...(typeof value === 'object' ? value : {}), [name]: member };
  if (Array.isArray(value)) {
    return value.map((item, index) => (index === step ? withMember(item, rest, name, member) : item));
  }
  const entries = Object.entries(typeof value === 'object' && value !== null ? value : {});
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, key === step ? withMember(inner, rest, name, member) : inner]),
  );
};

const names = fc.string({ unit: 'binary', maxLength: 40 }).map((suffix) => `${UNHEARD}${suffix}`);
/** Values without the name that every route rejects. */
const insides = fc.jsonValue({ maxDepth: 3 }).filter((inside) => !JSON.stringify(inside).includes('__proto__'));
const values = fc.oneof(
  fc.constant(UNHEARD),
  insides.map((inside) => ({ [UNHEARD]: inside })),
  insides.map((inside) => [UNHEARD, inside]),
);

/** Valid bodies of a route with one to five unknown members at any depth. */
export const withUnknownMembers = (bodies: readonly object[]): fc.Arbitrary<Enlarged> =>
  fc.constantFrom(...bodies).chain((good) => {
    const member = fc.tuple(fc.constantFrom(...objectsIn(good)), names, values);
    return fc.array(member, { minLength: 1, maxLength: 5 }).map((members): Enlarged => {
      const body = members.reduce<unknown>(
        (value, [path, name, inside]) => withMember(value, path, name, inside),
        good,
      );
      if (typeof body !== 'object' || body === null) throw new Error('not an object');
      return { good, body, added: members.map(([path, name]) => [...path, name].join('.')) };
    });
  });

/** Bodies that a simulated provider received, oldest first, and whether a request contains an added name or value. */
export const received = (requests: readonly RecordedRequest[]) => ({
  bodies: requests.filter(({ method }) => method === 'POST').map(({ body }) => body),
  hasUnheard: requests.some(({ path, query, headers, bytes }) =>
    `${path} ${query} ${JSON.stringify(headers)} ${Buffer.from(bytes).toString('latin1')}`.includes(UNHEARD),
  ),
});
