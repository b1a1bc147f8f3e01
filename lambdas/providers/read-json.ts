import * as z from 'zod';
import type { GatewayError } from '../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, refuseManyParts } from '../core/json.ts';
import { ANSWER_BYTES_MAX } from '../core/text/answer-size.ts';
import { byRequest, unreadable } from './refusals.ts';
import type { UpstreamResponse } from './upstream-http.ts';

/** Complete response as JSON and as its text. Throws `upstream_error` if it is unreadable or too long (ERR-9). */
export const readJsonText = async (
  response: UpstreamResponse,
  bytesMax = ANSWER_BYTES_MAX,
): Promise<{ readonly text: string; readonly value: JsonValue }> => {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of response.body) {
      bytes += piece.length;
      if (bytes > bytesMax) throw tooLarge();
      pieces.push(piece);
    }
  } finally {
    response.discard();
  }
  const whole = Buffer.concat(pieces);
  try {
    refuseManyParts(whole);
  } catch {
    throw tooLarge();
  }
  try {
    const text = whole.toString('utf8');
    return { text, value: JSON.parse(text) };
  } catch {
    throw unreadable();
  }
};

/**
 * A request decides how large its response is, so the circuit does not count one above the gateway's limits, and its
 * cost uses the allowance.
 */
const tooLarge = (): GatewayError => unreadable({ ...byRequest, usesAllowance: true });

export const readJson = async (response: UpstreamResponse, bytesMax?: number): Promise<JsonValue> =>
  (await readJsonText(response, bytesMax)).value;

/** Maximum depth of a body (GEN-2). */
const DEPTH_MAX = 64;

/**
 * Parses JSON whose numbers serialize to their original digits, because an id of 20 digits does not fit a double.
 * Throws a SyntaxError, also for JSON that is nested too deep to serialize again.
 */
export const parseExact = (text: string): JsonValue => {
  refuseDepth(text);
  return exactly(text);
};

/**
 * Returns an object that serializes like `parseExact` of the text, or undefined if the text is not an object. The text is
 * parsed only then, because a request waits with it, and a value can take fifty times the memory of its text.
 */
export const exactObject = (text: string): JsonObject | undefined => {
  // Text that starts with a brace, because `exactly` turns some numbers into objects.
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    refuseDepth(text);
  } catch {
    return undefined;
  }
  return Object.defineProperty({}, 'toJSON', { value: () => exactly(text) });
};

/**
 * Arguments of a call in a history, as an object. Text that is not an object, such as that of a call that the output limit
 * cut off, becomes a member with the name that Anthropic's documents suggest:
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming
 */
export const argumentsObject = (text: string): JsonObject =>
  text.trim() === '' ? {} : (exactObject(text) ?? { INVALID_JSON: text });

const refuseDepth = (text: string): void => {
  if (isDeeper(parseJson(text), DEPTH_MAX)) throw new SyntaxError('nested too deep');
};

const exactly = (text: string): JsonValue =>
  JSON.parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? JSON.rawJSON(source) : value,
  );

const isDeeper = (value: JsonValue | undefined, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  const members = isJsonObject(value) ? Object.values(value) : value;
  return levels === 0 || members.some((member) => isDeeper(member, levels - 1));
};

/**
 * One count in a provider's usage. An invalid count is treated as absent. A count that is impossibly large or infinite
 * stays large: it is charged at its bound (BILL-7), and must not make the other counts free.
 */
export const tokenCount = z
  .custom<number>((value) => typeof value === 'number' && value >= 0)
  .transform((value) => Math.min(Math.ceil(value), Number.MAX_SAFE_INTEGER))
  .nullish()
  .catch(undefined);
