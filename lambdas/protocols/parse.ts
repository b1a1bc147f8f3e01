import * as z from 'zod';
import { GatewayError } from '../core/errors/gateway-error.ts';
import type { JsonObject } from '../core/json.ts';

type Issue = z.core.$ZodIssue;

const NAME_CHARACTERS_MAX = 100;
/** Fallback messages. */
const INVALID = 'is not valid';
const REQUIRED = 'is required';

/** Name that the client chose, cut for use in a message and in `param`. */
export const shownName = (name: string): string =>
  name.length > NAME_CHARACTERS_MAX ? `${name.slice(0, NAME_CHARACTERS_MAX)}…` : name;

/** Path as a client writes it: `messages[0].content[1].image_url`. */
export const toParam = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number'
        ? `${text}[${part}]`
        : text
          ? `${text}.${shownName(String(part))}`
          : shownName(String(part)),
    '',
  );

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const units: Readonly<Record<string, string>> = { string: 'characters', array: 'items', object: 'members' };

interface Bound {
  readonly origin: string;
  readonly inclusive?: boolean;
  readonly exact?: boolean;
}

const bounded = (
  { origin, inclusive, exact }: Bound,
  value: number | bigint,
  within: string,
  beyond: string,
): string => {
  if (origin === 'string' && value === 1 && within === 'at least') return 'must not be empty';
  const word = exact ? 'exactly' : inclusive === false ? beyond : within;
  const unit = units[origin];
  return unit === undefined ? `must be ${word} ${value}` : `must have ${word} ${value} ${unit}`;
};

/** Joins the types that the branches of a union expect: "must be a string or an array". */
const alternatives = (branches: readonly (readonly Issue[])[]): string => {
  const asked = branches.flatMap(([issue]) => /^must be (.+)$/.exec(issue?.message ?? '')?.[1] ?? []);
  return asked.length > 0 ? `must be ${[...new Set(asked)].join(' or ')}` : INVALID;
};

/** Message for an issue whose schema has none. Messages of the validation library never reach a client. */
const words = (issue: z.core.$ZodRawIssue): string => {
  if (issue.input === undefined) return REQUIRED;
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? 'of another type'}`;
    case 'too_small':
      return bounded(issue, issue.minimum, 'at least', 'more than');
    case 'too_big':
      return bounded(issue, issue.maximum, 'at most', 'less than');
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return alternatives(issue.errors);
    default:
      return INVALID;
  }
};

/** Parses a value, with the gateway's message for each issue. */
export const check = <Schema extends z.ZodType>(schema: Schema, value: unknown) =>
  schema.safeParse(value, { error: words });

/** Checks a body against a schema. Throws the 400 that names the first invalid field and the fix (ERR-8, GEN-4). */
export const parseWith = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
  const parsed = check(schema, value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw issue
    ? toError(deepest(issue, []))
    : new GatewayError('invalid_request_error', 'The body is not valid. Send a JSON object.');
};

interface Found {
  readonly issue: Issue;
  readonly path: readonly PropertyKey[];
}

/** Chooses the alternative of a union whose check reached the deepest path, because it is the most specific. */
const deepest = (issue: Issue, prefix: readonly PropertyKey[]): Found => {
  const path = [...prefix, ...issue.path];
  if (issue.code !== 'invalid_union') return { issue, path };
  let best: Found = { issue, path };
  for (const [first] of issue.errors) {
    if (!first) continue;
    const found = deepest(first, path);
    if (found.path.length > best.path.length) best = found;
  }
  return best;
};

const toError = ({ issue, path }: Found): GatewayError => {
  if (issue.code === 'unrecognized_keys') {
    const param = toParam([...path, issue.keys[0] ?? '']);
    return refusal(param, `${param}: this field is not supported here. Remove it.`);
  }
  const param = toParam(path);
  return refusal(param, `${param}: ${explain(issue)}`);
};

const refusal = (param: string, message: string): GatewayError =>
  new GatewayError(param.startsWith('messages') ? 'invalid_messages' : 'invalid_request_error', message, { param });

const explain = (issue: Issue): string => {
  const hasOwnWords = issue.message !== INVALID && issue.message !== REQUIRED;
  if (!hasOwnWords && issue.code === 'invalid_value') return oneOf(issue.values);
  if (!hasOwnWords && issue.code === 'invalid_union' && 'options' in issue && Array.isArray(issue.options)) {
    return oneOf(issue.options);
  }
  return issue.message.endsWith('.') ? issue.message : `${issue.message}.`;
};

/** A discriminator that may be absent has undefined among its values. */
const oneOf = (values: readonly unknown[]): string => {
  const shown = values.filter((value) => value !== undefined && value !== null).map((value) => JSON.stringify(value));
  return shown.length === 1 ? `must be ${shown[0]}.` : `must be one of ${shown.join(', ')}.`;
};

/**
 * How the API reference shows a check that has no JSON schema: the members of a collection, another schema with more
 * detail, or a schema written by hand. The gateway itself does not read it, except for lists.
 */
export type Shown =
  | { readonly kind: 'list'; readonly item: z.ZodType; readonly min: number; readonly max: number }
  | { readonly kind: 'record'; readonly value: z.ZodType; readonly max: number }
  | { readonly kind: 'like'; readonly other: z.ZodType }
  | { readonly kind: 'schema'; readonly schema: JsonObject };
export const shown = new WeakMap<z.core.$ZodType, Shown>();

export const showAs = <Schema extends z.ZodType>(schema: Schema, as: Shown): Schema => {
  shown.set(schema, as);
  return schema;
};

/**
 * Collections whose check stops at the first invalid member. The library's own checks describe every failure: a few
 * megabytes of invalid members cost a gigabyte of descriptions.
 */

interface ListBounds {
  readonly min?: number;
  readonly max: number;
  /** Message for a value that is not an array or is too short. */
  readonly message: string;
}

const putFirstIssue = (context: z.core.ParsePayload, error: z.ZodError, member: PropertyKey): void => {
  const [first] = error.issues;
  if (first) context.issues.push({ ...first, path: [member, ...first.path], input: undefined });
};

export const listOf = <Item extends z.ZodType>(item: Item, { min = 0, max, message }: ListBounds) => {
  // Not an array of the library, which copies all items before it checks their number.
  const list = z.custom<readonly unknown[]>(Array.isArray, message).transform((members, context): z.output<Item>[] => {
    const refuse = (problem: string): never => {
      context.issues.push({ code: 'custom', message: problem, input: undefined });
      return z.NEVER;
    };
    if (members.length < min) return refuse(message);
    if (members.length > max) return refuse(`must have at most ${max} items`);
    const checked: z.output<Item>[] = [];
    for (const [index, member] of members.entries()) {
      const parsed = check(item, member);
      if (!parsed.success) {
        putFirstIssue(context, parsed.error, index);
        return z.NEVER;
      }
      checked.push(parsed.data);
    }
    return checked;
  });
  return showAs(list, { kind: 'list', item, min, max });
};

/** The value comes from a JSON parser. */
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Any object. Its members are not checked. */
export const anyObject = showAs(z.custom<JsonObject>(isObject, 'must be an object'), {
  kind: 'schema',
  schema: { type: 'object', additionalProperties: true },
});

export const recordOf = <Value extends z.ZodType>(value: Value, max: number) => {
  const record = anyObject.transform((members, context): Record<string, z.output<Value>> => {
    const names = Object.keys(members);
    if (names.length > max) {
      context.issues.push({ code: 'custom', message: `must have at most ${max} members`, input: undefined });
      return z.NEVER;
    }
    const checked: Record<string, z.output<Value>> = {};
    for (const name of names) {
      const parsed = check(value, members[name]);
      if (!parsed.success) {
        putFirstIssue(context, parsed.error, name);
        return z.NEVER;
      }
      checked[name] = parsed.data;
    }
    return checked;
  });
  return showAs(record, { kind: 'record', value, max });
};
