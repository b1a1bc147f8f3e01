import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { environmentSchema } from '../../lib/environments.ts';

interface Field {
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
}

const fieldSchema: z.ZodType<Field> = z.looseObject({
  default: z.unknown().optional(),
  required: z.array(z.string()).optional(),
  get properties() {
    return z.record(z.string(), fieldSchema).optional();
  },
});

/** A list or an object that is empty says nothing. */
const asText = (value: unknown): string => {
  if (Array.isArray(value)) return value.join(', ') || 'none';
  return typeof value === 'object' || value === undefined ? 'none' : String(value);
};

/** Every field that holds a value, by its path, with what it is when it is left out. */
const fieldsOf = (field: Field, path = ''): (readonly [string, string])[] => {
  const { properties, required = [] } = field;
  if (!properties) return [[path, asText(field.default)]];
  return Object.entries(properties).flatMap(([name, inner]) => {
    const at = path === '' ? name : `${path}.${name}`;
    return path === '' && required.includes(name) ? [[at, 'needed'] as const] : fieldsOf(inner, at);
  });
};

const document = readFileSync(join(import.meta.dirname, '../../docs/operations/deployment.md'), 'utf8');
const [, table = ''] = /<!-- environment -->\n([\s\S]*?)<!-- \/environment -->/.exec(document) ?? [];

test('the deployment guide has every field of an environment, with its default', () => {
  const rows = [...table.matchAll(/^\| `([^`]+)` \| ([^|]+) \| \S/gm)].map(([, name, value]) => [name, value]);
  const schema = fieldSchema.parse(z.toJSONSchema(environmentSchema, { io: 'input', unrepresentable: 'any' }));
  expect(rows).toEqual(fieldsOf(schema));
});
