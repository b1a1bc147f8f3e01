import { type GatewayError, invalidRequest } from '../core/errors/gateway-error.ts';

const NAMES_MAX = 20;
const NAME_CHARACTERS_MAX = 64;
/** A body has room for millions of members. */
export const MEMBERS_MAX = 10_000;

/** Names of the request's fields that were ignored, for a header and the receipt: sorted, each once, at most 20. */
export class IgnoredFields {
  readonly #names: string[] = [];
  #members = 0;

  /** Goes on from the fields `before`, without the names in `sent`. */
  constructor(before?: IgnoredFields, sent: readonly string[] = []) {
    if (!before) return;
    this.#names.push(...before.#names.filter((name) => !sent.includes(name)));
    this.#members = before.#members;
  }

  /** `path` as in the request. Its indexes are left out: `messages[].name`. Throws a 400 for too many. */
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

/** `path` is that of one of them. */
export const tooMany = (path: readonly PropertyKey[]): GatewayError => {
  const name = toName(path);
  return invalidRequest(name, `${name}: the request has more than ${MEMBERS_MAX} unknown fields. Leave them out.`);
};

/** The client chose the name, so only characters that are safe in a header remain. */
const toName = (path: readonly PropertyKey[]): string => {
  let name = '';
  for (const part of path) {
    if (typeof part === 'number') name += '[]';
    else name += `${name && '.'}${String(part)}`;
  }
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

/** For `X-Service-Require-Parameters`: throws the 400 that names the first field. */
export const refuseIgnored = ([first]: readonly string[], modelId: string): void => {
  if (first === undefined) return;
  throw invalidRequest(
    first,
    `${first}: ignored with "${modelId}", and x-service-require-parameters is true. Leave out the field or the header.`,
  );
};
