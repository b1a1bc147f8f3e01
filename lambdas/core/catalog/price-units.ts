/**
 * Number of units that a listed price in USD covers. The loaded price is pico-USD for ONE token, character, image,
 * megapixel, second or minute, including the operator's markup. It is never rounded: a price that does not divide is
 * rejected (BILL-3).
 */
export const unitSizes = {
  '1M_tokens': 1_000_000n,
  '1M_characters': 1_000_000n,
  image: 1n,
  megapixel: 1n,
  second: 1n,
  audio_minute: 1n,
} as const;

export type PriceUnit = keyof typeof unitSizes;

const smallestShares: Partial<Record<PriceUnit, bigint>> = { megapixel: 1000n, audio_minute: 60n };

/**
 * Returns the number of smallest billed shares in a unit: a thousandth of a megapixel, or a second of a minute. A price
 * must be a whole number of pico-USD for this share too.
 */
export const sharesIn = (unit: PriceUnit): bigint => smallestShares[unit] ?? 1n;
