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

type Container = readonly JsonValue[] | JsonObject;

/** Level by level and without recursion, whatever the depth. */
const checkValues = (root: JsonObject): void => {
  let level: Container[] = [root];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > DEPTH_MAX) throw malformed(`The body is nested deeper than ${DEPTH_MAX} levels.`);
    level = level.flatMap(containersIn);
  }
};

const containersIn = (container: Container): Container[] => {
  const found: Container[] = [];
  for (const [name, value] of Object.entries(container)) {
    if (typeof value === 'object' && value !== null) found.push(value);
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw invalidRequest(name, `${name}: a number is out of range.`);
    }
  }
  return found;
};
