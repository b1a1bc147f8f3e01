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

/** Text of a default value. `none` for an absent value, an empty list or an object. */
const asText = (value: unknown): string => {
  if (Array.isArray(value)) return value.join(', ') || 'none';
  return typeof value === 'object' || value === undefined ? 'none' : String(value);
};

/** Lists the path and the default of every field without subfields. */
const fieldsOf = (field: Field, path = ''): (readonly [string, string])[] => {
  const { properties, required = [] } = field;
  if (!properties) return [[path, asText(field.default)]];
  return Object.entries(properties).flatMap(([name, inner]) => {
    const at = path === '' ? name : `${path}.${name}`;
    return path === '' && required.includes(name) ? [[at, 'required'] as const] : fieldsOf(inner, at);
  });
};

const document = readFileSync(join(import.meta.dirname, '../../docs/operations/deployment.md'), 'utf8');
const [, table = ''] = /<!-- environment -->\n([\s\S]*?)<!-- \/environment -->/.exec(document) ?? [];

test('the deployment guide lists every field of an environment, with its default', () => {
  const rows = [...table.matchAll(/^\| `([^`]+)` \| ([^|]+) \| \S/gm)].map(([, name, value]) => [name, value]);
  const schema = fieldSchema.parse(z.toJSONSchema(environmentSchema, { io: 'input', unrepresentable: 'any' }));
  expect(rows).toEqual(fieldsOf(schema));
});
