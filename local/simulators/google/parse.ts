import type * as z from 'zod';
import { isRecord } from '../json-sample.ts';
import type { VendorRefusal } from '../wire.ts';
import { invalidArgument } from './error.ts';

/** Parses the body by the schema. Throws the 400 of the provider's JSON parser. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  if (!isRecord(body)) throw violation('', 'Invalid JSON payload received. Unexpected token.');
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw readerError(parsed.error, body);
  return parsed.data;
}

const types: Readonly<Record<string, string>> = {
  string: 'TYPE_STRING',
  boolean: 'TYPE_BOOL',
  number: 'TYPE_FLOAT',
  int: 'TYPE_INT32',
};

function readerError(error: z.ZodError, body: unknown): VendorRefusal {
  const issue = error.issues[0];
  if (issue === undefined) return invalidArgument();
  const path = toPath(issue.path, body);
  const at = path === '' ? '' : ` at '${path}'`;
  if (issue.code === 'unrecognized_keys') {
    return violation(path, `Invalid JSON payload received. Unknown name "${issue.keys[0]}"${at}: Cannot find field.`);
  }
  const value = JSON.stringify(valueAt(issue.path, body))?.slice(0, 100);
  if (issue.code === 'invalid_type') {
    return violation(path, `Invalid value${at} (${types[issue.expected] ?? 'TYPE_MESSAGE'}), ${value}`);
  }
  if (issue.code === 'custom' && issue.message === 'int32') {
    return violation(path, `Invalid value${at} (TYPE_INT32), ${value}`);
  }
  if (issue.code === 'custom' && issue.message === 'base64') {
    return violation(path, `Invalid value${at} (TYPE_BYTES), Base64 decoding failed for ${value}`);
  }
  return issue.code === 'too_big' || issue.code === 'too_small'
    ? invalidArgument()
    : violation(path, `Invalid value${at}, ${value}`);
}

function violation(field: string, description: string): VendorRefusal {
  const fieldViolation = field === '' ? { description } : { field, description };
  return invalidArgument(description, [
    { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [fieldViolation] },
  ]);
}

/**
 * Path as the provider writes it: `tools[0].function_declarations[0].parameters.properties[2].value`. A map is a list
 * of pairs.
 */
function toPath(path: readonly PropertyKey[], body: unknown): string {
  const names = path.map((step, index) => {
    if (typeof step === 'number') return `[${step}]`;
    const owner = valueAt(path.slice(0, index), body);
    if (path[index - 1] === 'properties' && isRecord(owner))
      return `[${Object.keys(owner).indexOf(String(step))}].value`;
    return `.${toSnake(String(step))}`;
  });
  return names.join('').replace(/^\./, '');
}

function valueAt(path: readonly PropertyKey[], body: unknown): unknown {
  return path.reduce<unknown>((value, step) => {
    if (Array.isArray(value)) return value[Number(step)];
    return isRecord(value) ? (value[String(step)] ?? value[toSnake(String(step))]) : undefined;
  }, body);
}

function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
