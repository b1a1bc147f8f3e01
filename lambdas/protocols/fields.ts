import * as z from 'zod';
import { editsBetween } from '../core/catalog/nearest.ts';
import { type ErrorCode, GatewayError } from '../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { shown } from './bounded.ts';
import { IgnoredFields } from './ignored-fields.ts';
import { toParam } from './parse.ts';

/**
 * What happens to members of an object that its schema does not have (GEN-16). A member that asks for nothing is removed. One that
 * costs more than the hold covers, or asks for what the gateway cannot do, is 400. Any other is ignored.
 */
export interface FieldPolicy {
  /** `list` names ignored members to the client. `accept` does not: clients copy the object from an earlier response. */
  readonly unknown: 'list' | 'accept';
  /** Names that are ignored and not listed. */
  readonly accepted?: readonly string[];
  /** Names that are 400, with the reason and the fix. */
  readonly refused?: Readonly<Record<string, Refusal>>;
  /** Names that are listed although they are close to a guarded one. */
  readonly listed?: readonly string[];
  /** Names whose misspelling is 400, because it could cost money or change the response. */
  readonly guarded?: readonly string[];
  /** Optional members whose null means something. Null in any other optional member is the same as absent. */
  readonly nullable?: readonly string[];
}

export type Refusal = string | { readonly code: ErrorCode; readonly message: string };

const policies = new WeakMap<z.core.$ZodType, FieldPolicy>();

/** An object of a request. It stays strict for whoever parses it without `keepFields`. */
export const fields = <Shape extends z.core.$ZodLooseShape>(shape: Shape, policy: FieldPolicy) => {
  const object = z.strictObject(shape);
  policies.set(object, policy);
  return object;
};

/** Whether unknown members of an object are ignored, at least those that no policy refuses. */
export const ignoresUnknown = (schema: z.core.$ZodType): boolean => policies.has(schema);

/** Output limits of all protocols. */
const capNames = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'maxOutputTokens',
  'max_tokens_to_sample',
];

/** Guarded in the body of every protocol, whether the protocol has the field or not. */
export const guardedNames: readonly string[] = [
  ...capNames,
  'model',
  'messages',
  'input',
  'contents',
  'stream',
  'tools',
  'tool_choice',
  'response_format',
  'generationConfig',
  'reasoning_effort',
  'thinking',
];

const EDITS_MAX = 2;

export interface KeptFields {
  /** What is left for the schema. The same object if nothing was removed. */
  readonly body: JsonObject;
  readonly ignored: IgnoredFields;
}

/** Applies the policies of a schema's objects, at any depth. Throws the 400 that names a field. */
export const keepFields = (schema: z.ZodObject, json: JsonObject): KeptFields => {
  const ignored = new IgnoredFields();
  return { body: keepMembers(schema, json, { path: [], ignored }), ignored };
};

interface Place {
  readonly path: readonly PropertyKey[];
  readonly ignored: IgnoredFields;
}

const inside = ({ path, ignored }: Place, part: PropertyKey): Place => ({ path: [...path, part], ignored });

/** Values that no policy speaks of, such as JSON schemas, are returned as they are. */
const keep = (schema: z.core.$ZodType, value: JsonValue, place: Place): JsonValue => {
  const as = shown.get(schema);
  if (as) return as.kind === 'list' ? keepItems(as.item, value, place) : value;
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

const keepItems = (item: z.core.$ZodType, value: JsonValue, place: Place): JsonValue => {
  if (!Array.isArray(value)) return value;
  let isChanged = false;
  const kept = value.map((member: JsonValue, index) => {
    const left = keep(item, member, inside(place, index));
    isChanged ||= left !== member;
    return left;
  });
  return isChanged ? kept : value;
};

const keepMembers = (object: z.ZodObject, value: JsonObject, place: Place): JsonObject => {
  const policy = policies.get(object);
  const kept: [name: string, member: JsonValue][] = [];
  let isChanged = false;
  for (const [name, member] of Object.entries(value)) {
    const schema = Object.hasOwn(object.shape, name) ? object.shape[name] : undefined;
    const left = member === undefined ? undefined : keepMember({ name, member, schema, object, policy }, place);
    isChanged ||= left !== member;
    if (left !== undefined) kept.push([name, left]);
  }
  return isChanged ? Object.fromEntries(kept) : value;
};

interface Member {
  readonly name: string;
  readonly member: JsonValue;
  readonly schema: z.core.$ZodType | undefined;
  readonly object: z.ZodObject;
  readonly policy: FieldPolicy | undefined;
}

/** Undefined if it is removed. */
const keepMember = ({ name, member, schema, object, policy }: Member, place: Place): JsonValue | undefined => {
  if (schema) {
    const isAbsent = member === null && schema._zod.optin === 'optional' && !policy?.nullable?.includes(name);
    return isAbsent ? undefined : keep(schema, member, inside(place, name));
  }
  if (!policy) return member;
  ignore(name, member, policy, object, place);
  return undefined;
};

const ignore = (name: string, member: JsonValue, policy: FieldPolicy, object: z.ZodObject, place: Place): void => {
  const { unknown, accepted, refused, listed, guarded } = policy;
  if (member === null || accepted?.includes(name)) return;
  const path = [...place.path, name];
  if (refused && Object.hasOwn(refused, name)) {
    refuseUnlessEmpty(refused[name], member, path);
    return;
  }
  if (unknown === 'accept') return;
  if (guarded && !listed?.includes(name)) refuseNearMiss(guarded, object, path);
  place.ignored.add(path);
};

const refuseUnlessEmpty = (refusal: Refusal | undefined, member: JsonValue, path: readonly PropertyKey[]): void => {
  if (refusal === undefined || isEmpty(member)) return;
  const param = toParam(path);
  const { code, message } =
    typeof refusal === 'string' ? ({ code: 'invalid_request_error', message: refusal } as const) : refusal;
  throw new GatewayError(code, `${param}: ${message}`, { param });
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
  const isOwn = (name: string): boolean => Object.hasOwn(object.shape, name);
  const meant = near.find(isOwn) ?? (near.some((name) => capNames.includes(name)) ? capNames.find(isOwn) : undefined);
  const param = toParam(path);
  const fix = meant === undefined ? 'Leave it out.' : `Did you mean ${meant}?`;
  throw new GatewayError('invalid_request_error', `${param}: this endpoint has no such field. ${fix}`, { param });
};

/** The option of a union that the value's JSON type, or its discriminator, selects. */
const optionFor = (union: z.ZodUnion, value: JsonValue): z.core.$ZodType | undefined =>
  union.options.find((option) => fits(option, value));

const fits = (schema: z.core.$ZodType, value: JsonValue): boolean => {
  if (shown.get(schema)?.kind === 'list' || schema instanceof z.ZodArray) return Array.isArray(value);
  if (schema instanceof z.ZodUnion) return optionFor(schema, value) !== undefined;
  if (schema instanceof z.ZodObject) return isJsonObject(value) && hasLiterals(schema, value);
  return typeof value !== 'object' && schema instanceof z.ZodType && schema.safeParse(value).success;
};

/** Whether the members that have one fixed value, such as `type`, have it. */
const hasLiterals = ({ shape }: z.ZodObject, value: JsonObject): boolean =>
  Object.entries(shape).every(
    ([name, member]) => !(member instanceof z.ZodLiteral) || member.safeParse(value[name]).success,
  );
