import { isJsonObject, type JsonValue, parseJson } from '../../lambdas/core/json.ts';
import { TEST_DAY } from '../support/in-process-gateway.ts';

/** Longest list that the document shows. */
const ITEMS_MAX = 2;

/** Members whose values are random bytes of a provider, and what the document shows. */
const opaque: Readonly<Record<string, string>> = {
  encrypted_content: 'gAAAAABxbGVuY3J5cHRlZCByZWFzb25pbmc',
  thoughtSignature: 'c2lnbmF0dXJlIG9mIHRoZSB0aG91Z2h0',
  responseId: 'kZ4eaeXvN8yUvdIP1qC4wQ8',
  secret: 'whsec_ZXhhbXBsZSBzZWNyZXQgb2YgMzIgYnl0ZXMsIGZha2U=',
  key: 'sk-service-AbCdExampleKeyExampleKeyExampleKeyExampleKeyEwxyz',
  masked: 'sk-service-AbCd…wxyz',
};

const ULID = '01KAJ2Z8D5M8R3V0C7Q4T9XW';
const HEX = '0123456789abcdef';

/** Returns a function that replaces each different match of a pattern by another value. */
const numbered = (pattern: RegExp, make: (index: number, length: number) => string) => (text: string) => {
  const seen = new Map<string, string>();
  return text.replaceAll(pattern, (match) => {
    const value = seen.get(match) ?? make(seen.size, match.length);
    seen.set(match, value);
    return value;
  });
};

const withUlids = numbered(/[0-7][0-9A-HJKMNP-TV-Z]{25}/g, (index) => `${ULID}1${'BCDEFGHJKM'.charAt(index % 10)}`);
const withHex = numbered(/(?<![.0-9a-f])[0-9a-f]{16,}/g, (index, length) => HEX.repeat(8).slice(index, index + length));

/**
 * Returns the text that the repository stores for a response of JSON: with fixed ids, times and secrets, and with at
 * most two items of a list. Undefined for another media type.
 */
export const toRecord = (mediaType: string, body: string): string | undefined => {
  if (!mediaType.endsWith('json')) return undefined;
  const fixed = withHex(withUlids(body))
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'https://gateway.invalid')
    .replaceAll(/ \[\[takes \d+\]\]/g, '');
  return `${JSON.stringify(shortened(withFixedValues(parseJson(fixed))), null, 2)}\n`;
};

const withFixedValues = (value: JsonValue, name = ''): JsonValue => {
  if (typeof value === 'string') return opaque[name] ?? value;
  if (typeof value === 'number') return isNow(value) ? TEST_DAY / 1_000 : value;
  if (isList(value)) return value.map((each) => withFixedValues(each));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, each]) => [member, each === undefined ? each : withFixedValues(each, member)]),
  );
};

/** Whether a number is the present time in Unix seconds. The simulated providers have no other clock. */
const isNow = (value: number): boolean => Math.abs(value - Date.now() / 1_000) < 3_600;

const shortened = (value: JsonValue): JsonValue =>
  isJsonObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, each !== undefined && isList(each) ? cut(each) : each]),
      )
    : value;

const cut = (list: readonly JsonValue[]): readonly JsonValue[] =>
  list.every((each) => isJsonObject(each)) ? list.slice(0, ITEMS_MAX) : list;

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);
