/**
 * Keywords of JSON schemas that a provider supports. A schema is rewritten for it (CHAT-8):
 *
 * | keyword | Claude | Gemini |
 * |---|---|---|
 * | `type`, `properties`, `required`, `items`, `anyOf`, `title`, `description` | pass | pass |
 * | `enum`, `const` | pass with primitive values | `enum` with strings or numbers |
 * | `oneOf` | `anyOf` | `anyOf` |
 * | `allOf` | merged | merged |
 * | `additionalProperties` | false | passes |
 * | `minimum`, `maximum`, `maxItems` | dropped | pass |
 * | `exclusiveMinimum`, `exclusiveMaximum` | dropped | bounds of integers, else dropped |
 * | `minItems` | 0 and 1 pass | passes |
 * | `prefixItems` | `items` of any of them | passes |
 * | `format` | ten formats pass | passes |
 * | `pattern` | simple ones pass | dropped |
 * | `default`, `examples` | moved into the description | moved into the description |
 * | `$ref` to the same document | passes | passes |
 * | a schema that contains itself | written out to a limited depth | not required |
 * | other keywords, `minLength`, `uniqueItems`, `propertyNames` and so on | dropped | dropped |
 */
export interface Dialect {
  /** Keywords that need no rewriting. */
  readonly passes: ReadonlySet<string>;
  /** Values of `typeof` that members of `enum` and `const` can have. */
  readonly literals: ReadonlySet<string>;
  /** Undefined if all formats pass. */
  readonly formats: ReadonlySet<string> | undefined;
  /** Whether objects accept only the named members. */
  readonly isClosed: boolean;
  /** Whether references can form loops, provided that no required property is part of one. */
  readonly hasLoops: boolean;
}

const everywhere = ['title', 'description', '$ref', 'type', 'anyOf', 'properties', 'required', 'items', 'enum'];

/**
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations and
 * `transformJSONSchema` in @anthropic-ai/sdk 1.11.0 (2026-11), which disagree about `default` and `pattern`. Any other keyword is a 400, even an unknown one:
 * "For 'object' type, property 'propertyNames' is not supported" (https://github.com/BerriAI/litellm/pull/33981,
 * 2026-07-20), "Schema type 'oneOf' is not supported" (https://github.com/vercel/ai/issues/12876, 2026-07-02),
 * "Circular reference detected" (https://github.com/egonSchiele/agency-lang/issues/487, 2026-07-10).
 */
export const claudeDialect: Dialect = {
  passes: new Set([...everywhere, 'const']),
  literals: new Set(['string', 'number', 'boolean', 'null']),
  formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']),
  isClosed: true,
  hasLoops: false,
};

/**
 * `responseJsonSchema` in the types of @google/genai 3.1.0 (2026-11): the supported keywords, no siblings of `$ref`, and
 * loops only in properties that are not required. Other keywords may be sent and have no effect.
 */
export const geminiDialect: Dialect = {
  passes: new Set([
    ...everywhere,
    'propertyOrdering',
    'prefixItems',
    'minItems',
    'maxItems',
    'minimum',
    'maximum',
    'additionalProperties',
  ]),
  literals: new Set(['string', 'number']),
  formats: undefined,
  isClosed: false,
  hasLoops: true,
};

/** Keywords without an effect on the response, which are removed and not listed. Definitions stay where one is used. */
export const silent: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$vocabulary',
  '$comment',
  '$defs',
  'definitions',
  'discriminator',
  'deprecated',
  'readOnly',
  'writeOnly',
]);

/** Keywords that only describe, so nothing is lost if they move into the description. */
export const annotations: ReadonlySet<string> = new Set(['title', 'description', 'default', 'examples', 'example']);

const PATTERN_CHARACTERS_MAX = 1_000;

/**
 * Whether the provider can compile a pattern: no groups with a question mark, word boundaries, back references, Unicode
 * escapes or large repetitions. Each search takes time proportional to the pattern, because a client chooses it.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs#pattern-support-regex
 */
export const isSimplePattern = (pattern: string): boolean =>
  pattern.length <= PATTERN_CHARACTERS_MAX &&
  !/\(\?|\\[bBkpPux\d]|\{\d{3}|\{\d*,\d{3}/.test(pattern) &&
  !/[*+?}][+?]/.test(pattern);
