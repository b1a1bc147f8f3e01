import type * as z from 'zod';
import { GatewayError } from '../core/errors/gateway-error.ts';

type Issue = z.core.$ZodIssue;

const NAME_CHARACTERS_MAX = 100;

/** A client chose it, and it stands in a message and in `param`: shown, but not at any length. */
export const shownName = (name: string): string =>
  name.length > NAME_CHARACTERS_MAX ? `${name.slice(0, NAME_CHARACTERS_MAX)}…` : name;

/** `messages[0].content[1].image_url`, the way a client would write it. */
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

/** Checks a body against a schema. Throws the 400 that names the first field in the way and the fix (ERR-8, GEN-4). */
export const parseWith = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw issue ? toError(deepest(issue, [])) : new GatewayError('invalid_request_error', 'The body is not valid.');
};

interface Found {
  readonly issue: Issue;
  readonly path: readonly PropertyKey[];
}

/** Of the alternatives of a union, the one that came furthest says most. */
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
    return refusal(param, `${param}: this field is not supported here. Leave it out.`);
  }
  const param = toParam(path);
  return refusal(param, `${param}: ${explain(issue)}`);
};

const refusal = (param: string, message: string): GatewayError =>
  new GatewayError(param.startsWith('messages') ? 'invalid_messages' : 'invalid_request_error', message, { param });

const explain = (issue: Issue): string => {
  if (issue.code === 'invalid_value')
    return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}.`;
  if (issue.code === 'invalid_union' && 'options' in issue && Array.isArray(issue.options)) {
    return `must be one of ${issue.options.map((option) => JSON.stringify(option)).join(', ')}.`;
  }
  if (issue.code === 'custom') return issue.message;
  return `${issue.message.replace(/^Invalid input: /, '')}.`;
};
