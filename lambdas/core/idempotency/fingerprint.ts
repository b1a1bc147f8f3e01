import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { hashOf } from './stored-answer.ts';

export interface FingerprintedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: JsonObject;
  readonly fallbackModelId: string | undefined;
}

/** What makes two requests the same under one key (IDEM-6): the order of members and the way a number is written do not. */
export const fingerprintOf = ({ method, path, body, fallbackModelId }: FingerprintedRequest): string =>
  hashOf(JSON.stringify([method, path, fallbackModelId ?? null, canonical(body)]));

/** Pairs for an object, since one made anew would put names that look like numbers first. The depth was bounded where it was read. */
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
