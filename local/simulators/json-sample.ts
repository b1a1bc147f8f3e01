/** String that is preferred over a generated one, by property name. */
export type SampleHint = (propertyName: string) => string | undefined;

type Walk = { readonly root: unknown; readonly hint: SampleHint; readonly depth: number };

/** Depth above which `null` and empty arrays are preferred, so that a recursive schema ends. */
const depthMax = 6;

/** Returns the smallest value that satisfies the JSON schema: required properties only, and the first alternative. */
export function sampleJson(schema: unknown, hint: SampleHint = () => undefined): unknown {
  return sample(schema, '', { root: schema, hint, depth: 0 });
}

function sample(schema: unknown, name: string, walk: Walk): unknown {
  if (!isRecord(schema)) return `sample ${name}`.trim();
  const deeper = { ...walk, depth: walk.depth + 1 };
  if (typeof schema.$ref === 'string') return sample(resolveRef(schema.$ref, walk.root), name, deeper);
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives)) return sample(pick(alternatives, walk.depth), name, deeper);
  switch (typeOf(schema, walk.depth)) {
    case 'object':
      return sampleObject(schema, deeper);
    case 'array':
      return sampleArray(schema, name, deeper);
    case 'number':
    case 'integer':
      return sampleNumber(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return sampleString(schema, name, walk.hint);
  }
}

function sampleObject(schema: Readonly<Record<string, unknown>>, walk: Walk): unknown {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [];
  return Object.fromEntries(required.map((name) => [name, sample(properties[name], name, walk)]));
}

function sampleArray(schema: Readonly<Record<string, unknown>>, name: string, walk: Walk): unknown {
  const least = numberOf(schema.minItems);
  const length = least ?? (walk.depth > depthMax ? 0 : Math.min(1, numberOf(schema.maxItems) ?? 1));
  return Array.from({ length }, () => sample(schema.items, name, walk));
}

function sampleNumber(schema: Readonly<Record<string, unknown>>): number {
  const step = numberOf(schema.multipleOf) ?? 1;
  const above = numberOf(schema.exclusiveMinimum);
  const from = above === undefined ? numberOf(schema.minimum) : above + step;
  const below = numberOf(schema.exclusiveMaximum);
  const to = below === undefined ? numberOf(schema.maximum) : below - step;
  const wanted = Math.ceil((from ?? Math.min(step, to ?? step)) / step) * step;
  return schema.type === 'integer' ? Math.ceil(wanted) : wanted;
}

const formats: Readonly<Record<string, string>> = {
  date: '2026-11-20',
  time: '12:00:00Z',
  'date-time': '2026-11-20T12:00:00Z',
  duration: 'PT1H',
  email: 'someone@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '3f2b8c1e-6d4a-4e0b-9a57-1c2d3e4f5a6b',
};

function sampleString(schema: Readonly<Record<string, unknown>>, name: string, hint: SampleHint): string {
  if (typeof schema.format === 'string' && formats[schema.format] !== undefined) return formats[schema.format] ?? '';
  const text = hint(name) ?? `sample ${name}`.trim();
  return text.padEnd(numberOf(schema.minLength) ?? 0, '.').slice(0, numberOf(schema.maxLength));
}

function pick(alternatives: readonly unknown[], depth: number): unknown {
  const wayOut = alternatives.find((alternative) => isRecord(alternative) && alternative.type === 'null');
  return depth > depthMax && wayOut !== undefined ? wayOut : alternatives[0];
}

function typeOf(schema: Readonly<Record<string, unknown>>, depth: number): unknown {
  if (Array.isArray(schema.type)) return depth > depthMax && schema.type.includes('null') ? 'null' : schema.type[0];
  return schema.type ?? (isRecord(schema.properties) ? 'object' : 'string');
}

function resolveRef(ref: string, root: unknown): unknown {
  const names = ref.split('/').slice(1);
  return names.reduce<unknown>(
    (at, name) => (isRecord(at) ? at[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
    root,
  );
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
