import { GatewayError, invalidRequest } from '../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../core/json.ts';

const DEPTH_MAX = 64;

/** GEN-2: strict UTF-8, well-formed, an object, at most 64 levels deep, and only numbers that a double can hold. */
export const parseJsonBody = (bytes: Uint8Array): JsonObject => {
  const value = parse(decode(bytes));
  if (!isJsonObject(value)) throw malformed('The body must be a JSON object.');
  checkValues(value);
  return value;
};

const malformed = (message: string): GatewayError => new GatewayError('invalid_request_error', message);

const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new GatewayError('invalid_request_error', 'The body is not valid UTF-8.', { cause });
  }
};

const parse = (text: string): JsonValue => {
  if (text.trim() === '') throw malformed('The body is empty. Send a JSON object.');
  try {
    return parseJson(text);
  } catch {
    // The parser's own message quotes the body, which must not reach a log.
    throw malformed('The body is not valid JSON.');
  }
};

/** Recursion is safe: it ends at the depth that is refused. `path` is where we are, kept in one array for the whole body. */
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
    throw invalidRequest(param, `${param}: this name is not accepted. Choose another.`);
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
