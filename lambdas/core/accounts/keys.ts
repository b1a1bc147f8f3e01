import { createHash, createHmac, hash } from 'node:crypto';
import { RecentMap } from '../recent-map.ts';

const KEY_PREFIX = 'sk-service-';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const SECRET_LENGTH = 43;

const CHECKSUM_LENGTH = 6;

const form = /^sk-service-([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

const toBase62 = (value: bigint, length: number): string => {
  let rest = value;
  let text = '';
  for (let digit = 0; digit < length; digit += 1) {
    text = `${ALPHABET[Number(rest % 62n)]}${text}`;
    rest /= 62n;
  }
  return text;
};

/** The last digits of the first 64 bits of the hash, divided in halves, because they do not fit a number. */
const checksum = (secret: string): string => {
  const digest = hash('sha256', KEY_PREFIX + secret);
  let high = Number.parseInt(digest.slice(0, 8), 16);
  let low = Number.parseInt(digest.slice(8, 16), 16);
  let text = '';
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit += 1) {
    const carried = (high % 62) * 2 ** 32 + low;
    high = Math.floor(high / 62);
    low = Math.floor(carried / 62);
    text = `${ALPHABET[carried % 62]}${text}`;
  }
  return text;
};

/**
 * Returns a new API key: `sk-service-`, 43 base62 characters from 32 random bytes, and a checksum of 6 characters
 * (AUTH-5).
 */
export const makeApiKey = (random: Uint8Array): string => {
  if (random.length !== 32) throw new RangeError('an API key takes 32 random bytes');
  const secret = toBase62(BigInt(`0x${Buffer.from(random).toString('hex')}`), SECRET_LENGTH);
  return `${KEY_PREFIX}${secret}${checksum(secret)}`;
};

/**
 * Whether the text has the form and checksum of an API key. A mistyped API key is rejected without a read of any table.
 */
export const isApiKey = (text: string): boolean => {
  const [, secret = '', check] = form.exec(text) ?? [];
  return check !== undefined && check === checksum(secret);
};

/** Hash that is stored instead of the key. */
export const hashApiKey = (pepper: string, key: string): string =>
  createHmac('sha256', pepper).update(key).digest('hex');

const RECENT_HASHES_MAX = 1_000;
const recentHashes = new RecentMap<string>(RECENT_HASHES_MAX);

/**
 * Returns `hashApiKey`, or undefined for a text that is not an API key. Remembers recent hashes. They are found by a
 * digest, so that no API key stays in memory.
 */
export const recentHashOf = (pepper: string, text: string): string | undefined => {
  const digest = hash('sha256', `${pepper}\n${text}`);
  const recent = recentHashes.get(digest);
  if (recent !== undefined || !isApiKey(text)) return recent;
  const made = hashApiKey(pepper, text);
  recentHashes.set(digest, made);
  return made;
};

export interface KeyLabel {
  readonly prefix: string;
  readonly lastFour: string;
}

/** Returns the part of an API key that may be shown: `sk-service-AbCd…wxyz`. */
export const toMasked = ({ prefix, lastFour }: KeyLabel): string => `${prefix}…${lastFour}`;

export const labelOf = (key: string): KeyLabel => ({
  prefix: key.slice(0, KEY_PREFIX.length + 4),
  lastFour: key.slice(-4),
});

/** Record of a new API key, without the API key itself. */
export interface NewKey {
  /** HMAC-SHA256 of the API key under the pepper, in hex. */
  readonly hash: string;
  readonly label: KeyLabel;
  /** Id of the pepper. */
  readonly pepperId: string;
  /** Whether the gateway has shown the API key to its owner; false if unknown. */
  readonly isShown: boolean;
}

export interface KeyDependencies {
  readonly pepper: string;
  /** 32 unpredictable bytes. */
  readonly newKeyBytes: () => Uint8Array;
}

export interface MadeKey {
  /** Shown to its owner once and stored nowhere. */
  readonly apiKey: string;
  readonly key: NewKey;
}

export const makeKey = ({ pepper, newKeyBytes }: KeyDependencies, isShown: boolean): MadeKey => {
  const apiKey = makeApiKey(newKeyBytes());
  return { apiKey, key: toNewKey(pepper, apiKey, isShown) };
};

export const toNewKey = (pepper: string, apiKey: string, isShown: boolean): NewKey => ({
  hash: hashApiKey(pepper, apiKey),
  label: labelOf(apiKey),
  pepperId: createHash('sha256').update(pepper).digest('hex').slice(0, 8),
  isShown,
});

/** Public id of an API key: the first 16 hex digits of SHA-256 of its hash. */
export const keyIdOf = (hash: string): string => createHash('sha256').update(hash).digest('hex').slice(0, 16);

/** Secrets with which API keys are hashed. */
export interface Peppers {
  /** Pepper of new keys. */
  readonly pepper: string;
  /** Peppers of older API keys, the newest first. */
  readonly olderPeppers: readonly string[];
}

/** Minimum length of every secret that an operator chooses, in characters. */
export const SECRET_LENGTH_MIN = 16;

/** Parses peppers, one per line, the newest first. Throws an Error that contains no pepper. */
export const parsePeppers = (text: string): Peppers => {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const [pepper, ...olderPeppers] = new Set(lines.filter((line) => line !== ''));
  if (pepper === undefined || [pepper, ...olderPeppers].some(({ length }) => length < SECRET_LENGTH_MIN)) {
    throw new Error(`a pepper must have at least ${SECRET_LENGTH_MIN} characters, one pepper per line`);
  }
  return { pepper, olderPeppers };
};

/** Returns the hashes under which a key may be stored, one per pepper, the newest first. */
export const hashesOf = ({ pepper, olderPeppers }: Peppers, apiKey: string): readonly string[] =>
  [pepper, ...olderPeppers].map((one) => hashApiKey(one, apiKey));
