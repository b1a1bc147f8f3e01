import { type Description, resolveSchema, type Schema } from './description.ts';
import { type Html, html, raw } from './html.ts';
import { renderInline } from './markdown.ts';

interface Place {
  readonly description: Description;
  /** Names of the schemas around this one, which are not expanded again. */
  readonly around: readonly string[];
  /** Levels of objects above this one. */
  readonly depth: number;
}

/** Levels that are shown without a click. */
const OPEN_LEVELS = 1;
/** Values of an enumeration that are listed. */
const VALUES_MAX = 40;

/** Shows the fields of a schema as nested lists. Returns undefined for a schema without fields. */
export const renderSchema = (description: Description, schema: Schema): Html | undefined =>
  renderFields(schema, { description, around: [], depth: 0 });

const typesOf = ({ type }: Schema): readonly string[] => (type === undefined ? [] : [type].flat());

const isNull = (schema: Schema): boolean => typesOf(schema).join() === 'null';

/** Returns the alternatives of a schema without `null`, alternatives of alternatives included. */
const alternativesOf = (schema: Schema): readonly Schema[] =>
  [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
    .flatMap((each) => (each.anyOf || each.oneOf ? alternativesOf(each) : each))
    .filter((each) => !isNull(each));

const isNullable = (schema: Schema): boolean =>
  typesOf(schema).includes('null') || [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].some(isNullable);

const unique = (names: readonly string[]): string => [...new Set(names)].join(' or ');

/** Returns the type of a value, such as `array of string`. */
export const typeOf = (description: Description, schema: Schema): string => {
  const { schema: found, name } = resolveSchema(description, schema);
  const alternatives = alternativesOf(found);
  if (alternatives.length > 0) return unique(alternatives.map((each) => typeOf(description, each)));
  if (found.const !== undefined) return JSON.stringify(found.const);
  const types = typesOf(found).filter((type) => type !== 'null');
  if (types.includes('array') && found.items) return `array of ${typeOf(description, found.items)}`;
  return unique(types.length > 0 ? types : [name ?? 'any']);
};

const valuesOf = ({ enum: values = [] }: Schema): Html | undefined => {
  const shown = values.filter((value) => value !== null);
  if (shown.length === 0) return undefined;
  const codes = shown.slice(0, VALUES_MAX).map((value) => html`<code>${String(value)}</code> `);
  return html`<p class="rules">Values: ${codes}${shown.length > VALUES_MAX && 'and more'}</p>`;
};

const limits = [
  ['minimum', (value) => `at least ${value}`],
  ['exclusiveMinimum', (value) => `more than ${value}`],
  ['maximum', (value) => `at most ${value}`],
  ['minItems', (value) => `at least ${value} ${value === '1' ? 'item' : 'items'}`],
  ['maxItems', (value) => `at most ${value} ${value === '1' ? 'item' : 'items'}`],
  ['maxLength', (value) => `at most ${value} characters`],
] as const satisfies readonly (readonly [keyof Schema, (value: string) => string])[];

/** Limits of the wire format's own types, such as 2^53, say nothing to a reader. */
const LIMIT_MAX = 1_000_000_000_000;

const limitsOf = (schema: Schema): readonly string[] => [
  ...limits.flatMap(([key, toRule]) => {
    const value = schema[key];
    return value === undefined || Math.abs(value) > LIMIT_MAX ? [] : [toRule(value.toLocaleString('en-US'))];
  }),
  ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ...(schema.format === undefined ? [] : [`format ${schema.format}`]),
];

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const rulesOf = (schema: Schema): Html | undefined => {
  const rules = limitsOf(schema);
  return rules.length > 0 ? html`<p class="rules">${capitalized(rules.join(', '))}</p>` : undefined;
};

/** Field of an object or parameter of a route. */
export interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly text?: string | undefined;
}

/** Shows a field without the fields of its value. */
export const renderField = (description: Description, { name, schema, isRequired, text }: Field): Html => {
  const { schema: found } = resolveSchema(description, schema);
  const about = text ?? schema.description ?? found.description;
  return html`<p class="head"><code class="name">${name}</code> <span class="type">${typeOf(description, schema)}${
    isNullable(found) && ' or null'
  }</span>${isRequired && html` <span class="required">required</span>`}</p>${
    about !== undefined && html`<p>${raw(renderInline(about))}</p>`
  }${rulesOf(found)}${valuesOf(found)}`;
};

const renderObject = (schema: Schema, place: Place): Html | undefined => {
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return undefined;
  const required = new Set(schema.required ?? []);
  const items = fields.map(([name, each]) => {
    const field = renderField(place.description, { name, schema: each, isRequired: required.has(name) });
    return html`<li>${field}${nested(each, place)}</li>`;
  });
  return html`<ul class="fields">${items}</ul>`;
};

/** Shows the fields of a field's value. Deeper levels are closed. */
const nested = (schema: Schema, place: Place): Html | undefined => {
  const inner = renderFields(schema, { ...place, depth: place.depth + 1 });
  return inner && html`<details><summary>Fields of ${labelOf(schema, place)}</summary>${inner}</details>`;
};

const labelOf = (schema: Schema, { description }: Place): string => {
  const { schema: found, name } = resolveSchema(description, schema);
  if (name !== undefined) return name;
  if (found.items) return 'an item';
  return alternativesOf(found).length > 0 ? 'the value' : 'the object';
};

/** Returns the label of an alternative: its constant field, else its type. */
const nameOf = (schema: Schema, { description }: Place): string => {
  const { schema: found, name } = resolveSchema(description, schema);
  const constant = Object.entries(found.properties ?? {}).find(
    ([key, each]) => ['type', 'role', 'object'].includes(key) && (each.const !== undefined || each.enum),
  );
  if (constant)
    return `${constant[0]}: ${[constant[1].const ?? constant[1].enum]
      .flat()
      .map((value) => JSON.stringify(value))
      .join(' or ')}`;
  return name ?? found.title ?? typeOf(description, found);
};

const renderAlternatives = (alternatives: readonly Schema[], place: Place): Html | undefined => {
  const shown = alternatives.flatMap((each) => {
    const inner = renderFields(each, { ...place, depth: place.depth + 1 });
    return inner ? [{ name: nameOf(each, place), inner }] : [];
  });
  if (shown.length === 1) return shown[0]?.inner;
  const isOpen = place.depth < OPEN_LEVELS && shown.length < 4;
  const items = shown.map(
    ({ name, inner }) =>
      html`<li><details${isOpen && raw(' open')}><summary><code>${name}</code></summary>${inner}</details></li>`,
  );
  return items.length > 0 ? html`<ul class="variants">${items}</ul>` : undefined;
};

const renderFields = (schema: Schema, place: Place): Html | undefined => {
  const { schema: found, name } = resolveSchema(place.description, schema);
  if (name !== undefined && place.around.includes(name)) return undefined;
  const here = name === undefined ? place : { ...place, around: [...place.around, name] };
  const alternatives = alternativesOf(found);
  if (alternatives.length > 0) return renderAlternatives(alternatives, here);
  if (found.items) return renderFields(found.items, here);
  if (found.contentSchema) return renderFields(found.contentSchema, here);
  return renderObject(found, here) ?? renderMap(found, here);
};

/** Shows the values of an object whose keys are free. */
const renderMap = ({ additionalProperties: values }: Schema, place: Place): Html | undefined =>
  typeof values === 'object' ? renderFields(values, place) : undefined;
