import * as z from 'zod';

/** A ULID. */
export const requestIdForm = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
/** The id of a receipt. */
export const receiptIdForm = /^(?:video_)?[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
export const videoIdForm = /^video_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
/** The day or time of a range. */
export const momentForm = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?$/;
export const usdForm = /^-?(?:0|[1-9]\d*)(?:\.\d{1,12})?$/;

/** A query parameter without a value is the same as none. */
export const orEmpty = ({ source }: RegExp) => ({ type: 'string', pattern: `^$|${source}` });

/** An amount of `formatUsd`. */
export const usd = z.string().regex(usdForm).describe('USD as an exact decimal string.');
export const requestId = z.string().regex(requestIdForm);
export const receiptId = z.string().regex(receiptIdForm);
export const videoId = z.string().regex(videoIdForm);
export const day = z.iso.date();
/** ISO 8601, UTC. */
export const time = z.iso.datetime();
export const count = z.int().min(0);
export const unixSeconds = z.int().min(0).describe('Unix seconds.');
/** Such as 1024x1024. */
export const pixels = z.string().regex(/^\d+x\d+$/);
