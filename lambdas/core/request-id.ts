import { hash } from 'node:crypto';

/** Digits of Crockford's base 32, which ULIDs use. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
const RANDOM_DIGITS = 9;
const CHECK_DIGITS = 7;
/** Random values are below this. */
export const RANDOM_END = 2 ** (5 * RANDOM_DIGITS);

/** The parts of a request id that determine the rest of it. */
export interface RequestIdParts {
  /** Time of the request, Unix ms. */
  readonly atMs: number;
  /** Random integer of 45 bits. */
  readonly random: number;
}

/**
 * Renders a request id: a ULID whose last seven digits follow from the others. So an account item can store 12 bytes
 * instead of the id, and an id of another origin is recognized.
 */
export const renderRequestId = ({ atMs, random }: RequestIdParts): string => {
  const start = toDigits(atMs, TIME_DIGITS) + toDigits(random, RANDOM_DIGITS);
  return start + checkOf(start);
};

/** Returns undefined for an id that `renderRequestId` does not produce, such as any other ULID. */
export const parseRequestId = (id: string): RequestIdParts | undefined => {
  const randomEnd = TIME_DIGITS + RANDOM_DIGITS;
  if (id.length !== randomEnd + CHECK_DIGITS || id.slice(randomEnd) !== checkOf(id.slice(0, randomEnd)))
    return undefined;
  const parts = { atMs: fromDigits(id.slice(0, TIME_DIGITS)), random: fromDigits(id.slice(TIME_DIGITS, randomEnd)) };
  return Number.isSafeInteger(parts.atMs) && Number.isSafeInteger(parts.random) ? parts : undefined;
};

/** Returns the lowest id of a millisecond. Ids of requests and holds start with the time of the request. */
export const firstIdAt = (ms: number): string => toDigits(Math.max(0, ms), TIME_DIGITS);

/** Returns the time at the start of an id of a request or a hold, in Unix ms. Undefined if it does not start with one. */
export const timeOfId = (id: string): number | undefined => {
  const atMs = fromDigits(id.slice(0, TIME_DIGITS));
  return id.length > TIME_DIGITS && Number.isSafeInteger(atMs) ? atMs : undefined;
};

/** The first 35 of the 36 bits in nine hexadecimal digits. */
const checkOf = (start: string): string =>
  toDigits(Math.floor(Number.parseInt(hash('sha256', start).slice(0, 9), 16) / 2), CHECK_DIGITS);

const toDigits = (value: number, count: number): string => {
  let text = '';
  for (let rest = value; text.length < count; rest = Math.floor(rest / 32)) text = DIGITS[rest % 32] + text;
  return text;
};

/** Returns NaN if a character is not a digit. */
const fromDigits = (text: string): number => {
  let value = 0;
  for (const character of text) {
    const digit = DIGITS.indexOf(character);
    value = digit < 0 ? Number.NaN : value * 32 + digit;
  }
  return value;
};
