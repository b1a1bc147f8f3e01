import { HOLD_IDS, holdIdOf, requestIdOf } from '../../core/ledger/hold.ts';
import type { Hold } from '../../core/ledger/ledger.ts';
import { parseRequestId, type RequestIdParts, renderRequestId } from '../../core/request-id.ts';
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
const AMOUNT_BYTES = 6;
const PACKED_BYTES = 14;
/** Packed amounts are below this: about 281 USD. */
const AMOUNT_END = 2n ** 48n;
const OFFSET_BITS = 22n;
/** Packed holds expire less than 48 days after their request. */
const OFFSET_SECONDS_END = 2 ** Number(OFFSET_BITS);
const TIME_END_MS = 2 ** 42;

/** Returns the entry of a new hold. A hold that cannot be packed is stored as a map under its whole id. */
export const toHoldEntry = (holdId: string, hold: Hold, format: HoldFormat): HoldEntry =>
  (format === 'packed' ? pack(holdId, hold) : undefined) ?? {
    key: holdId,
    value: { amount: hold.amountPicos, expiresAt: hold.expiresAtMs },
  };

/**
 * Packs a hold into 8 characters and 14 bytes: the random part and the number of the id; amount, time of the request in
 * ms, and expiry in seconds after it. The expiry is rounded up. Returns undefined if a part does not fit.
 */
const pack = (holdId: string, { amountPicos, expiresAtMs }: Hold): HoldEntry | undefined => {
  const parts = parseHoldId(holdId);
  const amount = packAmount(amountPicos);
  if (!parts || !amount || parts.atMs >= TIME_END_MS) return undefined;
  const offsetSeconds = Math.ceil((expiresAtMs - parts.atMs) / 1_000);
  if (offsetSeconds < 0 || offsetSeconds >= OFFSET_SECONDS_END) return undefined;
  const value = Buffer.alloc(PACKED_BYTES, amount);
  value.writeBigUInt64BE((BigInt(parts.atMs) << OFFSET_BITS) | BigInt(offsetSeconds), AMOUNT_BYTES);
  return { key: packKey(parts), value };
};

/** Returns the key of a packed hold; undefined if its id has another form. */
export const packedKeyOf = (holdId: string): string | undefined => {
  const parts = parseHoldId(holdId);
  return parts && packKey(parts);
};

interface HoldIdParts extends RequestIdParts {
  /** From 0 up to HOLD_IDS. */
  readonly number: number;
}

const parseHoldId = (holdId: string): HoldIdParts | undefined => {
  const requestId = requestIdOf(holdId);
  const number = Number(holdId.slice(requestId.length + 1));
  if (!(number < HOLD_IDS) || holdIdOf(requestId, number) !== holdId) return undefined;
  const parts = parseRequestId(requestId);
  return parts && { ...parts, number };
};

const packKey = ({ random, number }: HoldIdParts): string => {
  const key = Buffer.alloc(KEY_BYTES);
  key.writeUIntBE(random * HOLD_IDS + number, 0, KEY_BYTES);
  return key.toString('base64url');
};

/** Start of every packed hold of that amount; undefined if the amount does not fit. */
export const packAmount = (amountPicos: bigint): Uint8Array | undefined => {
  if (amountPicos < 0n || amountPicos >= AMOUNT_END) return undefined;
  const bytes = Buffer.alloc(AMOUNT_BYTES);
  bytes.writeUIntBE(Number(amountPicos), 0, AMOUNT_BYTES);
  return bytes;
};

/** Returns the open holds of an account by id. Throws an Error that names an entry of another form. */
export const toHolds = (entries: Item): ReadonlyMap<string, Hold> =>
  new Map(
    Object.entries(entries).map(([key, value]) =>
      isBytes(value) ? unpack(key, Buffer.from(value)) : [key, toHold(readMap(entries, key))],
    ),
  );

/** Ignores further bytes, which a newer release may add. */
const unpack = (key: string, value: Buffer): [string, Hold] => {
  const id = Buffer.from(key, 'base64url');
  if (id.length !== KEY_BYTES || value.length < PACKED_BYTES) throw new Error(`the stored hold "${key}" is unreadable`);
  const number = id.readUIntBE(0, KEY_BYTES);
  const times = value.readBigUInt64BE(AMOUNT_BYTES);
  const atMs = Number(times >> OFFSET_BITS);
  const requestId = renderRequestId({ atMs, random: Math.floor(number / HOLD_IDS) });
  return [
    holdIdOf(requestId, number % HOLD_IDS),
    {
      amountPicos: BigInt(value.readUIntBE(0, AMOUNT_BYTES)),
      expiresAtMs: atMs + Number(times % BigInt(OFFSET_SECONDS_END)) * 1_000,
    },
  ];
};

const toHold = (item: Item): Hold => ({
  amountPicos: readBigint(item, 'amount'),
  expiresAtMs: readNumber(item, 'expiresAt'),
});
