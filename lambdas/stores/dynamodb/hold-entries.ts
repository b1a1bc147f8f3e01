import { type HoldCap, parsePeriod } from '../../core/ledger/caps.ts';
import { holdIdOf, requestIdOf } from '../../core/ledger/hold.ts';
import type { Hold } from '../../core/ledger/ledger.ts';
import { parseRequestId, type RequestIdParts, renderRequestId } from '../../core/request-id.ts';
import { holdCapValue, toHoldCap } from './cap-items.ts';
import { type Item, isBytes, readBigint, readMap, readNumber, type Value } from './item.ts';

/**
 * Form in which new holds are stored in the account item. Both forms are always read. `map` is readable for releases
 * that know only that form.
 */
export type HoldFormat = 'packed' | 'map';

/** Entry of the account's hold map. */
export interface HoldEntry {
  readonly key: string;
  readonly value: Value;
}

const KEY_BYTES = 6;
/** Number of hold ids of a request that are packed. Part of the stored form: a hold with a further id is a map. */
const PACKED_IDS = 4;
const AMOUNT_BYTES = 6;
/** Length of a packed hold without a cap. */
const PACKED_BYTES = 14;
/** Bytes of the amount and, without its last two bits, of the time of the request. */
const START_BYTES = 11;
/** Time of an entry whose expiry is unreadable: the latest date, so that it never counts as expired. */
const NEVER_MS = 8_640_000_000_000_000;
/** Packed amounts are below this: about 281 USD. */
const AMOUNT_END = 2n ** 48n;
const OFFSET_BITS = 22n;
/** Packed holds expire less than 48 days after their request. */
const OFFSET_SECONDS_END = 2 ** Number(OFFSET_BITS);
const TIME_END_MS = 2 ** 42;
/** Form of the ids of API keys that are packed: eight bytes. */
const KEY_ID_FORM = /^[0-9a-f]{16}$/;
const KEY_ID_BYTES = 8;
/** Part of the key of a map with a cap, which no hold id has. */
const CAPPED = '#cap';

/** Returns the entry of a new hold. A hold that cannot be packed is stored as a map under its whole id. */
export const toHoldEntry = (holdId: string, hold: Hold, format: HoldFormat): HoldEntry =>
  (format === 'packed' ? pack(holdId, hold) : undefined) ?? toMapEntry(holdId, hold);

/**
 * A release without caps must not close a hold with a cap, because it would not restore the cap. Under another key and
 * without `expiresAt`, such a release counts the entry as a hold of a newer one.
 */
const toMapEntry = (holdId: string, { amountPicos, expiresAtMs, cap }: Hold): HoldEntry =>
  cap
    ? { key: holdId + CAPPED, value: { amount: amountPicos, until: expiresAtMs, cap: holdCapValue(cap) } }
    : { key: holdId, value: { amount: amountPicos, expiresAt: expiresAtMs } };

/**
 * Packs a hold into 8 characters and 14 bytes: the random part and the number of the id; amount, time of the request in
 * ms, and expiry in seconds after it. The expiry is rounded up. With a cap, the API key and the period follow. A release
 * without caps closes no hold of more than 14 bytes. Returns undefined if a part does not fit.
 */
const pack = (holdId: string, { amountPicos, expiresAtMs, cap }: Hold): HoldEntry | undefined => {
  const parts = parseHoldId(holdId);
  const capBytes = packCap(cap);
  if (!capBytes) return undefined;
  if (!parts || parts.atMs >= TIME_END_MS || !isPackable(amountPicos)) return undefined;
  const offsetSeconds = Math.ceil((expiresAtMs - parts.atMs) / 1_000);
  if (offsetSeconds < 0 || offsetSeconds >= OFFSET_SECONDS_END) return undefined;
  const value = packValue(amountPicos, parts.atMs, offsetSeconds);
  return { key: packKey(parts), value: Buffer.concat([value, capBytes]) };
};

const isPackable = (amountPicos: bigint): boolean => amountPicos >= 0n && amountPicos < AMOUNT_END;

const packValue = (amountPicos: bigint, atMs: number, offsetSeconds: number): Buffer => {
  const value = Buffer.alloc(PACKED_BYTES);
  value.writeUIntBE(Number(amountPicos), 0, AMOUNT_BYTES);
  value.writeBigUInt64BE((BigInt(atMs) << OFFSET_BITS) | BigInt(offsetSeconds), AMOUNT_BYTES);
  return value;
};

/** Returns no bytes without a cap. Undefined for an API key of another form. */
const packCap = (cap: HoldCap | undefined): Buffer | undefined => {
  if (!cap) return Buffer.alloc(0);
  return KEY_ID_FORM.test(cap.keyId)
    ? Buffer.concat([Buffer.from(cap.keyId, 'hex'), Buffer.from(cap.period, 'ascii')])
    : undefined;
};

/** Returns undefined for bytes of a newer release. */
const unpackCap = (bytes: Buffer): HoldCap | undefined => {
  const period = bytes.toString('ascii', KEY_ID_BYTES);
  return parsePeriod(period) ? { keyId: bytes.toString('hex', 0, KEY_ID_BYTES), period } : undefined;
};

/** Returns the key of a packed hold; undefined if its id has another form. */
export const packedKeyOf = (holdId: string): string | undefined => {
  const parts = parseHoldId(holdId);
  return parts && packKey(parts);
};

/** Names of a hold's entry in both forms. Each hold id was sent in one of them, with a cap or without one. */
export const entryNames = (holdId: string, name: string, isCapped: boolean): Record<string, string> => {
  const packedKey = packedKeyOf(holdId);
  return {
    [`#${name}`]: isCapped ? holdId + CAPPED : holdId,
    ...(packedKey !== undefined && { [`#${name}Packed`]: packedKey }),
  };
};

/** Names of every entry that a hold can have. */
export const allEntryNames = (holdId: string, name: string): Record<string, string> => ({
  ...entryNames(holdId, name, false),
  [`#${name}Capped`]: holdId + CAPPED,
});

interface HoldIdParts extends RequestIdParts {
  /** From 0 up to PACKED_IDS. */
  readonly number: number;
}

const parseHoldId = (holdId: string): HoldIdParts | undefined => {
  const requestId = requestIdOf(holdId);
  const number = Number(holdId.slice(requestId.length + 1));
  if (!Number.isInteger(number) || number < 0 || number >= PACKED_IDS) return undefined;
  if (holdIdOf(requestId, number) !== holdId) return undefined;
  const parts = parseRequestId(requestId);
  return parts && { ...parts, number };
};

const packKey = ({ random, number }: HoldIdParts): string => {
  const key = Buffer.alloc(KEY_BYTES);
  key.writeUIntBE(random * PACKED_IDS + number, 0, KEY_BYTES);
  return key.toString('base64url');
};

/** Form of a packed hold: its amount and the time of its request, and the length of the whole. */
export interface PackedForm {
  readonly start: Uint8Array;
  readonly bytes: number;
}

/** Returns the form of the packed hold with that id, amount and cap. Undefined if such a hold cannot be packed. */
export const packedFormOf = (holdId: string, amountPicos: bigint, cap: HoldCap | undefined): PackedForm | undefined => {
  const parts = parseHoldId(holdId);
  const capBytes = packCap(cap);
  if (!parts || !capBytes || parts.atMs >= TIME_END_MS || !isPackable(amountPicos)) return undefined;
  const start = packValue(amountPicos, parts.atMs, 0).subarray(0, START_BYTES);
  return { start, bytes: PACKED_BYTES + capBytes.length };
};

/**
 * Returns the open holds of an account by id. An unreadable entry is a hold of a newer release under its key, because an
 * error would hide the result of a write whose reply contains the account.
 */
export const toHolds = (entries: Item): ReadonlyMap<string, Hold> =>
  new Map(
    Object.entries(entries).map(
      ([key, value]) =>
        (isBytes(value) ? unpack(key, Buffer.from(value)) : undefined) ?? toMapHold(entries, key, value),
    ),
  );

/** Returns undefined for an entry of another form. */
const unpack = (key: string, value: Buffer): [string, Hold] | undefined => {
  const id = Buffer.from(key, 'base64url');
  if (id.length !== KEY_BYTES || value.length < PACKED_BYTES) return undefined;
  const number = id.readUIntBE(0, KEY_BYTES);
  const times = value.readBigUInt64BE(AMOUNT_BYTES);
  const atMs = Number(times >> OFFSET_BITS);
  const requestId = renderRequestId({ atMs, random: Math.floor(number / PACKED_IDS) });
  return [
    holdIdOf(requestId, number % PACKED_IDS),
    {
      amountPicos: BigInt(value.readUIntBE(0, AMOUNT_BYTES)),
      expiresAtMs: atMs + Number(times % BigInt(OFFSET_SECONDS_END)) * 1_000,
      ...(value.length > PACKED_BYTES && capped(unpackCap(value.subarray(PACKED_BYTES)))),
    },
  ];
};

const capped = (cap: HoldCap | undefined): Pick<Hold, 'cap' | 'isNewer'> => (cap ? { cap } : { isNewer: true });

const toMapHold = (entries: Item, key: string, value: Value): [string, Hold] =>
  toCappedHold(entries, key) ?? [key, toHold(entries, key, value)];

/** Returns undefined for an entry without a cap, or of a newer release. */
const toCappedHold = (entries: Item, key: string): [string, Hold] | undefined =>
  orUndefined(() => {
    if (!key.endsWith(CAPPED)) return undefined;
    const item = readMap(entries, key);
    const cap = toHoldCap(item.cap);
    if (!cap) return undefined;
    const hold = { amountPicos: readBigint(item, 'amount'), expiresAtMs: readNumber(item, 'until'), cap };
    return [key.slice(0, -CAPPED.length), hold];
  });

const toHold = (entries: Item, key: string, value: Value): Hold => {
  const item = isBytes(value) ? {} : (orUndefined(() => readMap(entries, key)) ?? {});
  const amountPicos = orUndefined(() => readBigint(item, 'amount'));
  const expiresAtMs = orUndefined(() => readNumber(item, 'expiresAt'));
  return amountPicos === undefined || expiresAtMs === undefined
    ? { amountPicos: amountPicos ?? 0n, expiresAtMs: expiresAtMs ?? NEVER_MS, isNewer: true }
    : { amountPicos, expiresAtMs };
};

const orUndefined = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};
