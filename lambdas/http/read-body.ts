import { GatewayError, invalidRequest } from '../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue, mistakeIn, parseJson, partsOf } from '../core/json.ts';
import { BODY_BYTES_MAX, BODY_ITEM_BYTES, BODY_LIMIT_TEXT, BODY_PART_BYTES, BODY_PARTS_MAX } from '../limits.ts';
import type { Route } from '../routes.ts';
import { type BodyBudget, FREE_BYTES } from './body-budget.ts';
import { bodySourceOf } from './body-source.ts';
import type { Exchange } from './exchange.ts';
import { isForm, parseFormBody } from './form-body.ts';

/**
 * Reads the body. Checks the budget (GEN-14), then 413, then 415 and the 400s of JSON or the form, in this order
 * (GEN-8).
 */
export const readBody = async (
  exchange: Exchange,
  taken: Exclude<Route['body'], 'none'>,
  { budget, owners }: { readonly budget: BodyBudget; readonly owners: readonly string[] },
  /** Called with the whole body before it is parsed; throws to reject it. */
  check: (bytes: Uint8Array) => void = () => undefined,
): Promise<void> => {
  const { event } = exchange;
  const source = bodySourceOf(event);
  const isTooLarge = (source.declaredBytes ?? 0) > BODY_BYTES_MAX;
  const lease = budget.enter(owners, isTooLarge ? FREE_BYTES + 1 : source.declaredBytes);
  exchange.releaseBody = lease.end;
  const room = lease.reserve();
  if (room) await room;
  if (isTooLarge) {
    // The size is checked only when the budget has room (GEN-8).
    await lease.grow(FREE_BYTES + 1);
    throw tooLarge();
  }
  const bytes = await source.read(BODY_BYTES_MAX, lease.grow);
  if (bytes === 'too-long') throw tooLarge();
  if (bytes === 'incomplete')
    throw new GatewayError('invalid_request_error', 'The body did not arrive completely. Send it again.');
  check(bytes);
  refuseEncoding(event.headers);
  const contentType = event.headers['content-type'] ?? '';
  if (taken === 'form' || (taken === 'json-or-form' && isForm(contentType))) {
    if (!isForm(contentType)) throw invalidRequest('content-type', FORM_WANTED);
    lease.whole();
    exchange.form = parseFormBody(bytes, contentType);
    return;
  }
  refuseMultipart(contentType, taken);
  const added = addedByParsing(bytes);
  if (added > 0) await lease.expand(added);
  lease.whole();
  exchange.body = { json: parseJsonBody(bytes), bytes: bytes.length };
};

/** Message for a body that must be a form (GEN-12). */
const FORM_WANTED = 'content-type: this endpoint accepts multipart/form-data with the files.';

const tooLarge = (): GatewayError =>
  new GatewayError('payload_too_large', `The body is larger than ${BODY_LIMIT_TEXT}. Send a smaller body.`);

/** Rejects a compressed body (GEN-12). */
const refuseEncoding = (headers: Readonly<Record<string, string | undefined>>): void => {
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  if (!encoding || encoding === 'identity') return;
  const message = 'content-encoding: only identity is supported. Send the body without compression.';
  throw new GatewayError('unsupported_media_type', message, { param: 'content-encoding' });
};

/** GEN-12: JSON is accepted with any content type except that of a form. */
const refuseMultipart = (contentType: string, taken: Route['body']): void => {
  if (!contentType.trim().toLowerCase().startsWith('multipart/')) return;
  const fix = taken === 'json' ? 'JSON, not a multipart form' : 'JSON or multipart/form-data';
  throw invalidRequest('content-type', `content-type: this endpoint accepts ${fix}.`);
};

const DEPTH_MAX = 64;

/**
 * GEN-2: accepts strict UTF-8, well-formed JSON, an object of at most 64 levels, and only numbers that a double can
 * hold.
 */
export const parseJsonBody = (bytes: Uint8Array): JsonObject => {
  const value = parse(decode(bytes));
  if (!isJsonObject(value)) throw malformed('The body must be a JSON object.');
  checkValues(value);
  return value;
};

const malformed = (message: string): GatewayError => new GatewayError('invalid_request_error', message);

/** Number of bytes that parsing may add without counting toward the budget, so that large bodies never block small ones. */
const FREE_ADDED_BYTES = 4 * FREE_BYTES;

/**
 * Returns the bytes of memory that a body of many small values needs beyond its length: up to 50 times as much (GEN-14).
 * Throws the 400 for more than `BODY_PARTS_MAX` parts.
 */
export const addedByParsing = (json: Uint8Array): number => {
  const { parts, items } = partsOf(json, BODY_PARTS_MAX);
  if (parts > BODY_PARTS_MAX)
    throw malformed(`The body has more than ${BODY_PARTS_MAX} objects, arrays and member names. Send fewer.`);
  return Math.max(0, parts * BODY_PART_BYTES + items * BODY_ITEM_BYTES - Math.max(json.length, FREE_ADDED_BYTES));
};

const strict = new TextDecoder('utf-8', { fatal: true });

const decode = (bytes: Uint8Array): string => {
  try {
    return strict.decode(bytes);
  } catch (cause) {
    throw new GatewayError('invalid_request_error', 'The body is not valid UTF-8. Encode it as UTF-8.', { cause });
  }
};

const parse = (text: string): JsonValue => {
  if (text.trim() === '') throw malformed('The body is empty. Send a JSON object.');
  try {
    return parseJson(text);
  } catch (error) {
    // The parser's own message quotes the body, which must not reach a log.
    throw malformed(brokenAt(text, mistakeIn(text, error)));
  }
};

const brokenAt = (text: string, offset: number | undefined): string => {
  if (offset === text.length) return 'The body ends before its JSON is complete. Send the whole JSON object.';
  const place = offset === undefined ? '' : ` at ${placeOf(text, offset)}`;
  return `The body is not valid JSON${place}. Send one JSON object; a JSON library writes its quotes and commas correctly.`;
};

/** Number of characters whose lines are counted, because a body has room for millions of lines. */
const LINES_WITHIN = 10_000;

const placeOf = (text: string, offset: number): string => {
  if (offset > LINES_WITHIN) return `character ${offset + 1}`;
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', start)) {
    line += 1;
    start = end + 1;
  }
  return `line ${line}, column ${offset - start + 1}`;
};

/**
 * Recursion is safe because it stops at the depth limit. `path` is the current position, in one array for the whole
 * body.
 */
const checkValues = (value: JsonObject, path: string[] = []): void => {
  refuseDepth(path);
  for (const name of Object.keys(value)) checkMember(value[name], name, path);
};

const checkItems = (items: readonly JsonValue[], path: string[]): void => {
  refuseDepth(path);
  for (let index = 0; index < items.length; index += 1) checkMember(items[index], index, path);
};

const refuseDepth = (path: readonly string[]): void => {
  if (path.length >= DEPTH_MAX) throw malformed(`The body is nested deeper than ${DEPTH_MAX} levels.`);
};

const checkMember = (member: JsonValue | undefined, name: string | number, path: string[]): void => {
  if (name === '__proto__') {
    const param = toParam([...path, name]);
    throw invalidRequest(param, `${param}: this name is not allowed. Use another name.`);
  }
  if (typeof member === 'number' && !Number.isFinite(member)) {
    const param = toParam([...path, step(name)]);
    throw invalidRequest(param, `${param}: this number is out of range.`);
  }
  if (typeof member !== 'object' || member === null) return;
  path.push(step(name));
  if (isJsonObject(member)) checkValues(member, path);
  else checkItems(member, path);
  path.pop();
};

const step = (name: string | number): string => (typeof name === 'number' ? `[${name}]` : name);

const toParam = (path: readonly string[]): string => path.join('.').replaceAll('.[', '[');
