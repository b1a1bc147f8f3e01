import { GatewayError, invalidRequest } from '../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue, mistakeIn, reportedIn } from '../core/json.ts';
import { endOfString, JSON_LEVELS_MAX, type JsonParts, type JsonPiece, JsonScan, NO_NAME } from '../core/json-scan.ts';
import { BODY_ITEM_BYTES, BODY_PART_BYTES, BODY_PARTS_MAX } from '../limits.ts';
import { FREE_BYTES } from './body-budget.ts';

/** Bytes that are scanned, and bytes that are parsed, in one step of a few milliseconds. */
const SCANNED_BYTES = 512 * 1024;
const PIECE_BYTES = 64 * 1024;

/** Work that others can interrupt between its steps. */
export type Steps<Result> = Generator<undefined, Result>;

/** Runs all steps without interruption, for a short text. */
export const atOnce = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
};

export function* inOneStep<Result>(work: () => Result): Steps<Result> {
  yield;
  return work();
}

const malformed = (message: string): GatewayError => new GatewayError('invalid_request_error', message);

/** Counts the parts of a body. Throws the 400 for too many of them or too many levels (GEN-2). */
export function* scanBody(bytes: Uint8Array): Steps<JsonScan> {
  const scan = new JsonScan(bytes, PIECE_BYTES);
  for (let limit = SCANNED_BYTES; ; limit += SCANNED_BYTES) {
    const isComplete = scan.scanTo(limit);
    if (scan.parts > BODY_PARTS_MAX)
      throw malformed(`The body has more than ${BODY_PARTS_MAX} objects, arrays and member names. Send fewer.`);
    if (scan.levels > JSON_LEVELS_MAX) throw malformed(`The body is nested deeper than ${JSON_LEVELS_MAX} levels.`);
    if (isComplete) return scan;
    yield;
  }
}

/** Number of bytes that parsing may add without counting toward the budget, so that large bodies never block small ones. */
const FREE_ADDED_BYTES = 4 * FREE_BYTES;

/**
 * Returns the bytes of memory that a body of many small values needs beyond its length: up to 50 times as much (GEN-14).
 */
export const addedByParsing = ({ parts, items }: JsonParts, length: number): number =>
  Math.max(0, parts * BODY_PART_BYTES + items * BODY_ITEM_BYTES - Math.max(length, FREE_ADDED_BYTES));

/**
 * GEN-2: accepts strict UTF-8, well-formed JSON, an object, and only numbers that a double can hold. `scan` is the
 * complete scan of the body.
 */
export function* parseBody(bytes: Uint8Array, scan: JsonScan): Steps<JsonObject> {
  const value = yield* scan.pieces.length === 0 ? parseWhole(bytes) : parsePieces(bytes, scan);
  if (!isJsonObject(value)) throw malformed('The body must be a JSON object.');
  // The request checks its fields in the last step.
  yield;
  return value;
}

function* parseWhole(bytes: Uint8Array): Steps<JsonValue> {
  const text = decode(bytes);
  yield;
  if (text.trim() === '') throw malformed('The body is empty. Send a JSON object.');
  const value = parse(text, (error) => brokenAt(text, mistakeIn(text, error)));
  if (isJsonObject(value)) checkMembers(value, []);
  return value;
}

type Container = JsonValue[] | Record<string, JsonValue>;

/** A container whose members are not complete. */
interface Open {
  /** The value that has this container as its last member, and the name or index there. */
  readonly around: Container;
  readonly name: string | number;
  readonly members: Container;
  /** Further items of a list. They are joined at its end, because a list of millions of items is slow to grow. */
  readonly further: JsonValue[][];
}

function* parsePieces(bytes: Uint8Array, { pieces, mistakeAt }: JsonScan): Steps<JsonValue | undefined> {
  // The body is the only item of the outermost list.
  const root: Open = { around: [], name: 0, members: [], further: [] };
  const open = [root];
  // Steps from the body to the innermost open container.
  const path: string[] = [];
  for (const piece of pieces) {
    takePiece(bytes, piece, open, path);
    yield;
  }
  if (mistakeAt !== undefined) throw brokenAtByte(bytes, mistakeAt);
  const [value, ...others] = root.further.flat();
  if (others.length > 0) throw brokenAt(decode(bytes), undefined);
  return value;
}

const takePiece = (bytes: Uint8Array, piece: JsonPiece, open: Open[], path: string[]): void => {
  const innermost = open.at(-1);
  if (!innermost) throw new Error('a piece of JSON outside of the body');
  const isList = Array.isArray(innermost.members);
  const added = parsePiece(bytes, piece, isList);
  checkMembers(added, path, lengthOf(innermost));
  append(innermost, added);
  if (piece.closer !== undefined) {
    if ((piece.closer === END_BRACKET) !== isList) throw brokenAtByte(bytes, piece.end);
    close(innermost);
    open.pop();
    path.pop();
  }
  let around = innermost;
  for (const place of piece.open.slice(0, -1)) {
    // The body itself has no step.
    if (open.length > 1) path.push(stepOf(place === NO_NAME ? lengthOf(around) - 1 : nameAt(bytes, place)));
    around = lastMemberOf(around, bytes, place);
    open.push(around);
  }
};

const lengthOf = ({ members, further }: Open): number =>
  Array.isArray(members) ? further.reduce((sum, { length }) => sum + length, members.length) : 0;

const append = ({ members, further }: Open, added: Container): void => {
  if (!Array.isArray(added)) Object.assign(members, added);
  else if (added.length > 0) further.push(added);
};

const close = ({ around, name, members, further }: Open): void => {
  if (Array.isArray(members) && further.length > 0) Reflect.set(around, name, members.concat(...further));
};

/** Returns the last member, which is a container. `place` is that of its name, unless it is in a list. */
const lastMemberOf = ({ members, further }: Open, bytes: Uint8Array, place: number): Open => {
  const around = further.at(-1) ?? members;
  const name = Array.isArray(around) ? around.length - 1 : lastNameIn(around, nameAt(bytes, place));
  const member: unknown = Reflect.get(around, name);
  if (!isContainer(member))
    throw malformed('The body has a member name that cannot be read. Write names without escapes.');
  return { around, name, members: member, further: [] };
};

const END_BRACKET = 0x5d;

const parsePiece = (
  bytes: Uint8Array,
  { start, end, isAfterComma, open, closer }: JsonPiece,
  isList: boolean,
): Container => {
  const isLast = closer === undefined && open.length === 0;
  const inner = open.slice(1).map((name) => (name === NO_NAME ? ']' : '}'));
  const [before, after] = isList ? ['[', ']'] : ['{', '}'];
  const text = before + decode(bytes.subarray(start, end), start) + (isLast ? '' : inner.reverse().join('') + after);
  const members: Container = parse(text, (error) => {
    const found = start === 0 ? mistakeIn(text, error) : reportedIn(text, error);
    return brokenAt(decode(bytes), found === undefined ? undefined : charactersIn(bytes, start) + found - 1);
  });
  if (isAfterComma && Object.keys(members).length === 0) throw brokenAtByte(bytes, end);
  return members;
};

/** V8 sometimes reads a name with an escape as another name: https://github.com/nodejs/node/issues/63785 */
const lastNameIn = (container: Record<string, JsonValue>, name: string): string =>
  Object.hasOwn(container, name) ? name : (Object.keys(container).at(-1) ?? name);

const nameAt = (bytes: Uint8Array, place: number): string =>
  String(JSON.parse(decode(bytes.subarray(place, endOfString(bytes, place) + 1), place)));

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

const strict = new TextDecoder('utf-8', { fatal: true });
/** A byte order mark is ignored only at the start of a body. */
const strictInside = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const decode = (bytes: Uint8Array, start = 0): string => {
  try {
    return (start === 0 ? strict : strictInside).decode(bytes);
  } catch (cause) {
    throw new GatewayError('invalid_request_error', 'The body is not valid UTF-8. Encode it as UTF-8.', { cause });
  }
};

const charactersIn = (bytes: Uint8Array, end: number): number => decode(bytes.subarray(0, end)).length;

/** The parser's own message quotes the body, which must not reach a log. */
const parse = (text: string, toError: (error: unknown) => GatewayError) => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw toError(error);
  }
};

const brokenAtByte = (bytes: Uint8Array, at: number): GatewayError => brokenAt(decode(bytes), charactersIn(bytes, at));

const brokenAt = (text: string, offset: number | undefined): GatewayError => {
  if (offset === text.length)
    return malformed('The body ends before its JSON is complete. Send the whole JSON object.');
  const place = offset === undefined ? '' : ` at ${placeOf(text, offset)}`;
  return malformed(
    `The body is not valid JSON${place}. Send one JSON object; a JSON library writes its quotes and commas correctly.`,
  );
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
 * Checks the members of a container and all values in them. Recursion is safe because the scan has limited the depth.
 * `path` is the position of the container, in one array for the whole body. `first` is the index of the first item.
 */
const checkMembers = (members: JsonObject | readonly JsonValue[], path: string[], first = 0): void => {
  if (isList(members)) {
    for (let index = 0; index < members.length; index += 1) {
      const member = members[index];
      // A list can have millions of strings and numbers.
      if (typeof member !== 'string' && !Number.isFinite(member)) checkMember(member, first + index, path);
    }
  } else {
    for (const name of Object.keys(members)) checkMember(members[name], name, path);
  }
};

const isList = (value: JsonObject | readonly JsonValue[]): value is readonly JsonValue[] => Array.isArray(value);

const checkMember = (member: JsonValue | undefined, name: string | number, path: string[]): void => {
  if (name === '__proto__') {
    const param = toParam([...path, name]);
    throw invalidRequest(param, `${param}: this name is not allowed. Use another name.`);
  }
  if (typeof member === 'number' && !Number.isFinite(member)) {
    const param = toParam([...path, stepOf(name)]);
    throw invalidRequest(param, `${param}: this number is out of range.`);
  }
  if (typeof member !== 'object' || member === null) return;
  path.push(stepOf(name));
  checkMembers(member, path);
  path.pop();
};

const stepOf = (name: string | number): string => (typeof name === 'number' ? `[${name}]` : name);

const toParam = (path: readonly string[]): string => path.join('.').replaceAll('.[', '[');
