import * as z from 'zod';
import { MONTH_FORM } from '../../lambdas/core/ledger/month.ts';

/** Request id: a ULID. */
export const requestIdForm = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
/** Receipt id: a request id, or a video id. */
export const receiptIdForm = /^(?:video_)?[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
export const videoIdForm = /^video_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
export const dayForm = /^\d{4}-\d{2}-\d{2}$/;
/** Start or end of a time range: a date, or a date and time. */
export const momentForm = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?$/;
export const usdForm = /^-?(?:0|[1-9]\d*)(?:\.\d{1,12})?$/;

/** Pattern of an optional query parameter: an empty value counts as absent. */
export const orEmpty = ({ source }: RegExp) => ({ type: 'string', pattern: `^$|${source}` });

/** Amount as `formatUsd` writes it. */
export const usd = z.string().regex(usdForm).describe('USD as an exact decimal string.');
export const requestId = z.string().regex(requestIdForm);
export const receiptId = z.string().regex(receiptIdForm);
export const videoId = z.string().regex(videoIdForm);
export const day = z.iso.date();
export const month = z.string().regex(MONTH_FORM);
/** Date and time in ISO 8601, UTC. */
export const time = z.iso.datetime();
export const count = z.int().min(0);
export const unixSeconds = z.int().min(0).describe('Unix seconds.');
/** Width and height in pixels, such as 1024x1024. */
export const pixels = z.string().regex(/^\d+x\d+$/);
