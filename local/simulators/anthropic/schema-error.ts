import type * as z from 'zod';
import { isRecord } from '../json-sample.ts';
import type { VendorRefusal } from '../wire.ts';
import { anthropicError } from './error.ts';

type Issue = z.core.$ZodIssue;

/**
 * Returns the first problem in the provider's words: `messages.0.content.0.tool_use.text: Extra inputs are not
 * permitted`.
 */
export function schemaRefusal(error: z.ZodError, body: unknown): VendorRefusal {
  const issue = error.issues[0];
  if (issue === undefined) return anthropicError(400, 'Invalid request data');
  if (issue.code === 'unrecognized_keys') {
    const path = [...issue.path, issue.keys[0] ?? ''];
    return anthropicError(400, `${toField(path, body)}: Extra inputs are not permitted`);
  }
  if (issue.code === 'invalid_union') return tagRefusal(issue.path, body);
  const words = valueAt(body, issue.path) === undefined ? 'Field required' : toWords(issue);
  return anthropicError(400, `${toField(issue.path, body)}: ${words}`);
}

function tagRefusal(path: readonly PropertyKey[], body: unknown): VendorRefusal {
  const owner = path.slice(0, -1);
  const tag = valueAt(body, path);
  const field = toField(owner, body);
  if (tag === undefined) return anthropicError(400, `${field}.type: Field required`);
  const words = `Input tag '${String(tag)}' found using 'type' does not match any of the expected tags`;
  return anthropicError(400, `${field}: ${words}`);
}

function toWords(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return typeWords[issue.expected] ?? issue.message;
    case 'invalid_value':
      return `Input should be ${issue.values.map((value) => `'${String(value)}'`).join(' or ')}`;
    case 'too_small':
      if (issue.origin === 'string') return `String should have at least ${issue.minimum} character`;
      return `Input should be greater than or equal to ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `String should have at most ${issue.maximum} characters`;
      return `Input should be less than or equal to ${issue.maximum}`;
    case 'invalid_format':
      return 'pattern' in issue ? `String should match pattern '${String(issue.pattern).slice(1, -1)}'` : issue.message;
    default:
      return issue.message;
  }
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'Input should be a valid string',
  number: 'Input should be a valid number',
  int: 'Input should be a valid integer',
  boolean: 'Input should be a valid boolean',
  array: 'Input should be a valid list',
  object: 'Input should be a valid dictionary',
};

const taggedNames: ReadonlySet<PropertyKey> = new Set(['cache_control', 'source', 'thinking', 'tool_choice']);

/**
 * The provider adds the kind of a member that has several kinds: `tools.0.custom.name`,
 * `thinking.enabled.budget_tokens`.
 */
function toField(path: readonly PropertyKey[], body: unknown): string {
  const written: PropertyKey[] = [];
  for (const [index, step] of path.entries()) {
    written.push(step);
    const before = path[index - 1];
    const listed = typeof step === 'number' && (before === 'content' || before === 'tools');
    if (index === path.length - 1 || !(listed || taggedNames.has(step))) continue;
    const owner = valueAt(body, path.slice(0, index + 1));
    const tag = isRecord(owner) && typeof owner.type === 'string' ? owner.type : undefined;
    if (tag !== undefined) written.push(tag);
    else if (before === 'tools') written.push('custom');
  }
  return written.map(String).join('.');
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, step) => {
    if (Array.isArray(at)) return typeof step === 'number' ? at[step] : undefined;
    return isRecord(at) && typeof step === 'string' ? at[step] : undefined;
  }, value);
}
