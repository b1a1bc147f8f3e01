import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../json.ts';
import type { PreparedAnswer, ResponseStore, StoredResponse } from './claim-store.ts';

/** Largest response that fits into the item of a claim, with a margin to the item limit of the table. */
const INLINE_BYTES_MAX = 256 * 1024;

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns the same text for the same response, whatever the order of its headers. */
const toText = ({ status, headers, body }: StoredResponse): string =>
  JSON.stringify({ status, headers: Object.entries(headers).sort(([one], [other]) => (one < other ? -1 : 1)), body });

/** Moves a large response to the response store. Throws StoreError. */
export const toPrepared = async (
  answers: ResponseStore,
  answer: StoredResponse,
  holdId: string,
): Promise<PreparedAnswer> => {
  const text = toText(answer);
  const hash = hashOf(text);
  if (Buffer.byteLength(text) <= INLINE_BYTES_MAX) return { holdId, hash, content: answer };
  // A hold id is used once, so no other request writes under this name.
  await answers.put(holdId, text);
  return { holdId, hash, content: { objectName: holdId } };
};

/** Returns undefined if the response no longer exists. Throws StoreError. */
export const readPrepared = async (
  answers: ResponseStore,
  { hash, content }: PreparedAnswer,
): Promise<StoredResponse | undefined> => {
  if (!('objectName' in content)) return content;
  const text = await answers.get(content.objectName);
  return text === undefined || hashOf(text) !== hash ? undefined : parse(text);
};

const parse = (text: string): StoredResponse => {
  const value = parseJson(text);
  if (
    !isJsonObject(value) ||
    typeof value.status !== 'number' ||
    typeof value.body !== 'string' ||
    !Array.isArray(value.headers)
  ) {
    throw new Error('a stored answer cannot be read');
  }
  const headers: Record<string, string> = {};
  for (const entry of value.headers) {
    const [name, text] = Array.isArray(entry) ? entry : [];
    if (typeof name === 'string' && typeof text === 'string') headers[name] = text;
  }
  return { status: value.status, headers, body: value.body };
};

interface FingerprintedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: JsonObject;
  readonly fallbackModelIds?: readonly string[] | undefined;
}

/**
 * Returns the fingerprint by which requests under one idempotency key are compared (IDEM-6). It ignores the order of
 * members and the notation of numbers. One fallback model is a text, as in the claims of earlier releases, so both headers
 * are the same request if they name the same model.
 */
export const fingerprintOf = ({ method, path, body, fallbackModelIds = [] }: FingerprintedRequest): string => {
  const fallbacks = fallbackModelIds.length > 1 ? fallbackModelIds : (fallbackModelIds[0] ?? null);
  return hashOf(JSON.stringify([method, path, fallbacks, canonical(body)]));
};

/**
 * Returns a value that does not depend on the order of members. Represents an object as sorted pairs, because a rebuilt
 * object would put numeric names first. The reader of the body limits the depth.
 */
const canonical = (value: JsonValue | undefined): unknown => {
  if (isJsonObject(value)) {
    const members = value;
    return {
      pairs: Object.keys(members)
        .sort()
        .map((name) => [name, canonical(members[name])]),
    };
  }
  return Array.isArray(value) ? value.map(canonical) : value;
};
