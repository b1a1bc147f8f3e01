import * as z from 'zod';
import type { TextModel } from '../core/catalog/schema.ts';
import type { ErrorCode } from '../core/errors/error-codes.ts';
import { GatewayError, invalidRequest } from '../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { editsBetween } from '../core/nearest.ts';
import { shown, toParam } from './parse.ts';

const NAMES_MAX = 20;
const NAME_CHARACTERS_MAX = 64;
/** Limit on the unknown members of a request, because a body has room for millions of members. */
export const MEMBERS_MAX = 10_000;

/** Names of the request's fields that were ignored, for a header and the receipt: sorted, each once, at most 20. */
export class IgnoredFields {
  readonly #names: string[] = [];
  #members = 0;

  /** Continues from the fields in `before`, without the names in `sent`. */
  constructor(before?: IgnoredFields, sent: readonly string[] = []) {
    if (!before) return;
    this.#names.push(...before.#names.filter((name) => !sent.includes(name)));
    this.#members = before.#members;
  }

  /** `path` as in the request. The name omits its indexes: `messages[].name`. Throws a 400 for too many members. */
  add(path: readonly PropertyKey[]): void {
    this.#members += 1;
    if (this.#members > MEMBERS_MAX) throw tooMany(path);
    const name = toName(path);
    if (this.#names.includes(name)) return;
    this.#names.push(name);
    this.#names.sort();
    if (this.#names.length > NAMES_MAX) this.#names.pop();
  }

  get names(): readonly string[] {
    return this.#names;
  }
}

/** Error for too many unknown fields. `path` is the path of one of them. */
export const tooMany = (path: readonly PropertyKey[]): GatewayError => {
  const name = toName(path);
  return invalidRequest(name, `${name}: the request has more than ${MEMBERS_MAX} unknown fields. Remove them.`);
};

const SAFE_NAME = /^[\w.[\]-]*$/;

/** The client chose the name, so only characters that are safe in a header remain. */
const toName = (path: readonly PropertyKey[]): string => {
  let name = '';
  for (const part of path) {
    if (typeof part === 'number') name += '[]';
    else name += `${name && '.'}${String(part)}`;
  }
  if (name.length <= NAME_CHARACTERS_MAX && SAFE_NAME.test(name)) return name;
  let encoded = '';
  for (const character of name.slice(0, NAME_CHARACTERS_MAX).toWellFormed()) {
    const safe = /[\w.[\]-]/.test(character) ? character : percentEncoded(character);
    if (encoded.length + safe.length > NAME_CHARACTERS_MAX) break;
    encoded += safe;
  }
  return encoded;
};

const percentEncoded = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

/** Throws the 400 that names the first ignored field, for `X-Service-Require-Parameters`. */
export const refuseIgnored = ([first]: readonly string[], modelId: string): void => {
  if (first === undefined) return;
  throw invalidRequest(
    first,
    `${first}: ignored with "${modelId}", and x-service-require-parameters is true. Remove the field or the header.`,
  );
};

/**
 * What happens to members of an object that its schema does not have (GEN-16). A member without an effect is removed. A
 * member that costs more than the hold covers, or that the gateway does not support, is a 400. Any other member is
 * ignored.
 */
export interface FieldPolicy {
  /**
   * `list` names ignored members to the client. `accept` does not: clients copy the object from an earlier response.
   */
  readonly unknown: 'list' | 'accept';
  /**
   * Whether the client copied this object from an earlier response. Unknown members are then accepted in it and at any
   * depth below.
   */
  readonly isCopied?: (value: JsonObject) => boolean;
  /** Names that are ignored and not listed. */
  readonly accepted?: readonly string[];
  /** Names that are rejected with a 400, with the reason and the fix. */
  readonly refused?: Readonly<Record<string, Refusal>>;
  /** Refused names whose empty object is a request as well. Elsewhere, an empty value counts as absent. */
  readonly emptyRefused?: readonly string[];
  /** Names that are listed although they are close to a guarded one. */
  readonly listed?: readonly string[];
  /** Names whose misspelling is rejected with a 400, because it could cost money or change the response. */
  readonly guarded?: readonly string[];
  /** Optional members for which null has a meaning. In any other optional member, null counts as absent. */
  readonly nullable?: readonly string[];
  /** Optional members whose empty list or object counts as absent. */
  readonly emptyAbsent?: readonly string[];
  /**
   * Members that determine the kind of the object, in a protocol without a `type`. If an object has none of them, an
   * unknown member is rejected with a 400, because it may be a kind that the gateway does not support. In such a
   * protocol a refused member is rejected even if it is an empty object.
   */
  readonly kinds?: readonly string[];
  /**
   * Protobuf JSON, https://protobuf.dev/programming-guides/json/: a member has its camelCase name or its name in the
   * .proto file, and an object counts as a list of one. Members are stored and listed in camelCase.
   */
  readonly spelling?: 'proto';
}

export type Refusal =
  | string
  | {
      readonly code: ErrorCode;
      readonly message: string;
      /** Error details for the client's SDK. */
      readonly sdkDetails?: Readonly<Record<string, unknown>>;
    };

const policies = new WeakMap<z.core.$ZodType, FieldPolicy>();

/** Schema of an object in a request. A parse without `keepFields` rejects unknown members. */
export const fields = <Shape extends z.core.$ZodLooseShape>(shape: Shape, policy: FieldPolicy) => {
  const object = z.strictObject(shape);
  policies.set(object, policy);
  return object;
};

/** Whether unknown members of an object are ignored, unless a policy rejects them. */
export const ignoresUnknown = (schema: z.core.$ZodType): boolean => policies.has(schema);

/**
 * Fields of all protocols by their purpose. The gateway suggests the first one that the schema has. A name with a dot is
 * a member of the field before the dot.
 */
const purposes: readonly (readonly string[])[] = [
  [
    'max_completion_tokens',
    'max_tokens',
    'max_output_tokens',
    'maxOutputTokens',
    'generationConfig.maxOutputTokens',
    'max_tokens_to_sample',
  ],
  ['messages', 'input', 'contents'],
  ['response_format', 'text.format', 'output_config.format', 'generationConfig.responseJsonSchema'],
  ['reasoning_effort', 'reasoning.effort', 'output_config.effort', 'generationConfig.thinkingConfig', 'thinking'],
];

/** Guarded in the body of every protocol, whether the protocol has the field or not. */
export const guardedNames: readonly string[] = [
  ...purposes.flat().filter((name) => !name.includes('.')),
  'model',
  'stream',
  'tools',
  'tool_choice',
  'generationConfig',
];

const EDITS_MAX = 2;

export interface KeptFields {
  /** Body for the schema. The same object if nothing was removed. */
  readonly body: JsonObject;
  readonly ignored: IgnoredFields;
}

/** Applies the policies of a schema's objects, at any depth. Throws the 400 that names a field. */
export const keepFields = (schema: z.ZodObject, json: JsonObject): KeptFields => {
  const ignored = new IgnoredFields();
  return { body: keepMembers(schema, json, { around: undefined, part: '', ignored, isCopied: false }), ignored };
};

/** Fields outside the schema that the model's catalog entry names. They are sent, so they are not ignored. */
export const extraFieldsOf = (json: JsonObject, { shape }: z.ZodObject, { extraFields }: TextModel): JsonObject =>
  Object.fromEntries(
    extraFields.flatMap((name) => (json[name] === undefined || Object.hasOwn(shape, name) ? [] : [[name, json[name]]])),
  );

interface Place {
  /** Place of the object or list that has this member. Undefined for the body. */
  readonly around: Place | undefined;
  readonly part: PropertyKey;
  readonly ignored: IgnoredFields;
  /** Whether the place is inside an object for which `FieldPolicy.isCopied` holds. */
  readonly isCopied: boolean;
}

const inside = (around: Place, part: PropertyKey): Place => {
  const { ignored, isCopied } = around;
  return { around, part, ignored, isCopied };
};

/** Path of a member of a place. It is built only for a member that needs one, because few do. */
const pathIn = ({ around, part }: Place, ...inner: readonly PropertyKey[]): readonly PropertyKey[] =>
  around ? pathIn(around, part, ...inner) : inner;

/** Returns values without a policy, such as JSON schemas, unchanged. */
const keep = (schema: z.core.$ZodType, value: JsonValue, place: Place): JsonValue => {
  const as = shown.get(schema);
  if (as) return as.kind === 'list' ? keepItems(as.item, value, place, as.max) : value;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return keep(schema.unwrap(), value, place);
  if (schema instanceof z.ZodPipe)
    return keep(schema.in instanceof z.ZodTransform ? schema.out : schema.in, value, place);
  if (schema instanceof z.ZodArray) return keepItems(schema.element, value, place);
  if (schema instanceof z.ZodUnion) {
    const option = optionFor(schema, value);
    return option ? keep(option, value, place) : value;
  }
  return schema instanceof z.ZodObject && isJsonObject(value) ? keepMembers(schema, value, place) : value;
};

/**
 * Returns a list unchanged if the schema rejects its length or the kind of an item, because a body has room for
 * millions of items.
 */
const keepItems = (
  item: z.core.$ZodType,
  value: JsonValue,
  place: Place,
  max = Number.POSITIVE_INFINITY,
): JsonValue => {
  if (!Array.isArray(value) || value.length > max) return value;
  const kept: JsonValue[] = [];
  let isChanged = false;
  for (let index = 0; index < value.length; index += 1) {
    const member: JsonValue = value[index];
    const isScalar = typeof member !== 'object';
    const option = item instanceof z.ZodUnion && !isScalar ? optionFor(item, member) : item;
    if (!option) return value;
    const left = isScalar ? member : keep(option, member, inside(place, index));
    isChanged ||= left !== member;
    kept.push(left);
  }
  return isChanged ? kept : value;
};

const keepMembers = (object: z.ZodObject, value: JsonObject, around: Place): JsonObject => {
  refuseMany(object, value, around);
  const policy = policies.get(object);
  const isOfKind = hasKind(value, policy);
  const place = { ...around, isCopied: around.isCopied || (policy?.isCopied?.(value) ?? false) };
  const kept: [name: string, member: JsonValue][] = [];
  const spelled = policy?.spelling === 'proto' ? new Set<string>() : undefined;
  let isChanged = false;
  for (const [written, member] of Object.entries(value)) {
    const name = nameOf(written, policy);
    const schema = Object.hasOwn(object.shape, name) ? object.shape[name] : undefined;
    const found = member !== undefined && { name, member, schema, object, policy, hasKind: isOfKind };
    const left = found ? keepMember(found, place) : undefined;
    isChanged ||= left !== member || name !== written;
    if (left === undefined) continue;
    if (spelled?.has(name)) throw twoSpellings(pathIn(place, written));
    spelled?.add(name);
    kept.push([name, left]);
  }
  return isChanged ? Object.fromEntries(kept) : value;
};

/** Unknown members cost time even if they are not listed, so they count toward the limit. */
const refuseMany = ({ shape }: z.ZodObject, value: JsonObject, place: Place): void => {
  const names = Object.keys(value);
  if (names.length <= MEMBERS_MAX || names.length <= MEMBERS_MAX + Object.keys(shape).length) return;
  throw tooMany(pathIn(place, names.find((name) => !Object.hasOwn(shape, name)) ?? ''));
};

const hasKind = (value: JsonObject, policy: FieldPolicy | undefined): boolean =>
  !policy?.kinds ||
  Object.entries(value).some(([written, member]) => member !== null && policy.kinds?.includes(nameOf(written, policy)));

const nameOf = (written: string, policy: FieldPolicy | undefined): string =>
  policy?.spelling === 'proto' && written.includes('_')
    ? written.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    : written;

const twoSpellings = (path: readonly PropertyKey[]): GatewayError => {
  const param = toParam(path);
  return invalidRequest(param, `${param}: this field has two spellings in the request. Send one of them.`);
};

interface Member {
  readonly name: string;
  readonly member: JsonValue;
  readonly schema: z.core.$ZodType | undefined;
  readonly object: z.ZodObject;
  readonly policy: FieldPolicy | undefined;
  readonly hasKind: boolean;
}

/** Value of the member after the policies. Undefined if it is removed. */
const keepMember = (found: Member, place: Place): JsonValue | undefined => {
  const { name, member, schema, policy } = found;
  if (schema) {
    const isAbsent = member === null && schema._zod.optin === 'optional' && !policy?.nullable?.includes(name);
    const isBare = typeof member === 'object' && policy?.emptyAbsent?.includes(name) && isEmpty(member);
    if (isAbsent || isBare) return undefined;
    if (typeof member !== 'object' || member === null) return member;
    const isOne = policy?.spelling === 'proto' && isJsonObject(member) && isList(schema);
    return keep(schema, isOne ? [member] : member, inside(place, name));
  }
  if (!policy) return member;
  ignore(found, policy, place);
  return undefined;
};

const isList = (schema: z.core.$ZodType): boolean =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? isList(schema.unwrap())
    : schema instanceof z.ZodArray || shown.get(schema)?.kind === 'list';

const ignore = ({ name, member, object, hasKind }: Member, policy: FieldPolicy, place: Place): void => {
  const { unknown, accepted, refused, emptyRefused, listed, guarded, kinds } = policy;
  if (member === null || accepted?.includes(name)) return;
  const path = pathIn(place, name);
  if (refused && Object.hasOwn(refused, name)) {
    const isRequest = isJsonObject(member) && (kinds || emptyRefused?.includes(name));
    if (!isEmpty(member) || isRequest) refuse(refused[name], path);
    return;
  }
  if (!hasKind) refuse('this field is not supported here. Remove it.', path);
  if (unknown === 'accept' || place.isCopied) return;
  if (guarded && !listed?.includes(name)) refuseNearMiss(guarded, object, path);
  place.ignored.add(path);
};

const refuse = (refusal: Refusal | undefined, path: readonly PropertyKey[]): void => {
  if (refusal === undefined) return;
  const param = toParam(path);
  const { code, message, ...details } =
    typeof refusal === 'string' ? ({ code: 'invalid_request_error', message: refusal } as const) : refusal;
  throw new GatewayError(code, `${param}: ${message}`, { param, ...details });
};

const isEmpty = (member: JsonValue): boolean =>
  member === false || (typeof member === 'object' && member !== null && Object.keys(member).length === 0);

const refuseNearMiss = (guarded: readonly string[], object: z.ZodObject, path: readonly PropertyKey[]): void => {
  const written = String(path.at(-1));
  const isNear = (name: string): boolean =>
    Math.abs(name.length - written.length) <= EDITS_MAX &&
    editsBetween(written.toLowerCase(), name.toLowerCase()) <= EDITS_MAX;
  const near = guarded.filter(isNear);
  if (near.length === 0) return;
  const isOwn = (name: string): boolean => Object.hasOwn(object.shape, name.split('.', 1).join());
  const samePurpose = purposes.find((names) => names.some((name) => near.includes(name)));
  const meant = near.find(isOwn) ?? samePurpose?.find(isOwn);
  const param = toParam(path);
  const fix = meant === undefined ? 'Remove it.' : `Did you mean ${meant}?`;
  throw new GatewayError('invalid_request_error', `${param}: unknown field. ${fix}`, { param });
};

/**
 * Returns the option of a union that the JSON type or the discriminator of a value selects. Returns undefined if no
 * option matches; the value then stays unchanged.
 */
const optionFor = (union: z.ZodUnion, value: JsonValue): z.core.$ZodType | undefined =>
  union.options.find((option) => fits(option, value));

const fits = (schema: z.core.$ZodType, value: JsonValue): boolean => {
  if (shown.get(schema)?.kind === 'list' || schema instanceof z.ZodArray) return Array.isArray(value);
  if (schema instanceof z.ZodUnion) return optionFor(schema, value) !== undefined;
  if (schema instanceof z.ZodObject) return isJsonObject(value) && hasLiterals(schema, value);
  return false;
};

/** Whether the members that have fixed values, such as `type`, have one of them. */
const hasLiterals = (object: z.ZodObject, value: JsonObject): boolean =>
  literalsOf(object).every(([name, values]) => values.has(value[name]));

type Literals = readonly (readonly [name: string, values: ReadonlySet<unknown>])[];
const literals = new WeakMap<z.ZodObject, Literals>();

/** Members of a schema with fixed values. Cached, because every object of a body needs them. */
const literalsOf = (object: z.ZodObject): Literals => {
  const known = literals.get(object);
  if (known) return known;
  const found = Object.entries(object.shape).flatMap(([name, member]) =>
    member instanceof z.ZodLiteral ? [[name, member.values] as const] : [],
  );
  literals.set(object, found);
  return found;
};
