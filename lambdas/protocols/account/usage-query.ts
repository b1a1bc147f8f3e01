import * as z from 'zod';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { UsageFilter, UsageRange } from '../../core/ledger/usage.ts';
import { firstIdAt } from '../../core/request-id.ts';

type Query = Readonly<Record<string, string | undefined>>;

export interface UsageQuery {
  readonly range: UsageRange;
  readonly format: Format;
}

/** Form of a response. `csv-bom` is CSV with a byte order mark. */
export type Format = 'json' | 'csv' | 'csv-bom';

/** Parameters of `readFormat`. */
export const formatParameters = ['format', 'bom'] as const;

export const usageParameters = [
  'from',
  'to',
  'day',
  'model',
  'key',
  'end_user',
  'outcome',
  'cursor',
  'limit',
  ...formatParameters,
] as const;
const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1_000;
const MS_PER_DAY = 86_400_000;

/** Throws the 400 that names the parameter. An empty parameter counts as absent. */
export const readUsageQuery = (query: Query): UsageQuery => {
  refuseUnknown(query, usageParameters);
  const { from, to } = readTimes(query);
  const filter = readFilter(query);
  const bounds = [readCursor(query), to === undefined ? undefined : firstIdAt(to)].filter((id) => id !== undefined);
  return {
    range: {
      fromHoldId: from === undefined ? undefined : firstIdAt(from),
      beforeHoldId: bounds.toSorted()[0],
      limit: readLimit(query),
      ...(filter && { filter }),
    },
    format: readFormat(query),
  };
};

/** Throws the 400 that names the first parameter that the route does not have. */
export const refuseUnknown = (query: Query, parameters: readonly string[]): void => {
  const unknown = Object.keys(query).find((name) => !parameters.includes(name));
  if (unknown === undefined) return;
  const name = unknown.slice(0, 100);
  throw invalidRequest(name, `${name}: unknown query parameter. Use one of ${parameters.join(', ')}.`);
};

const day = z.iso.date();
const instant = z.iso.datetime({ local: true });

interface Moment {
  readonly ms: number;
  readonly isDay: boolean;
}

const readMoment = (query: Query, param: 'from' | 'to'): Moment | undefined => {
  const text = query[param];
  if (!text) return undefined;
  if (day.safeParse(text).success) return { ms: Date.parse(text), isDay: true };
  if (instant.safeParse(text).success) return { ms: Date.parse(text.endsWith('Z') ? text : `${text}Z`), isDay: false };
  throw invalidRequest(
    param,
    `${param}: must be a day such as 2026-11-20 or a time such as 2026-11-20T08:00:00Z (UTC).`,
  );
};

interface Times {
  /** Unix ms, included. */
  readonly from: number | undefined;
  /** Unix ms, excluded. */
  readonly to: number | undefined;
}

const readTimes = (query: Query): Times => {
  const { day: text } = query;
  const from = readFrom(query);
  const to = readTo(query);
  if (text) {
    if (from !== undefined || to !== undefined)
      throw invalidRequest('day', 'day: cannot be combined with from or to. Use day alone, or from and to.');
    const start = readDay('day', text);
    return { from: start, to: start + MS_PER_DAY };
  }
  if (from !== undefined && to !== undefined && to <= from) throw invalidRequest('to', 'to: must be later than from.');
  return { from, to };
};

/** Returns the first Unix ms of a UTC day. Throws the 400 that names the parameter. */
export const readDay = (param: string, text: string): number => {
  if (day.safeParse(text).success) return Date.parse(text);
  throw invalidRequest(param, `${param}: must be a UTC day such as 2026-11-20.`);
};

const outcomes = { charged: 'settled', released: 'released' } as const;
export const usageOutcomes = ['charged', 'released'] as const satisfies readonly (keyof typeof outcomes)[];

const KEY_ID_FORM = /^[0-9a-f]{16}$/;

/** Longest name of an end user, in characters (CHAT-15). */
const END_USER_MAX = 256;

/** Returns undefined without a filter. */
const readFilter = ({ model, key, end_user: endUser, outcome }: Query): UsageFilter | undefined => {
  if (key && !KEY_ID_FORM.test(key)) {
    throw invalidRequest('key', 'key: must be the id of an API key, 16 hex digits. Use key_id of a receipt.');
  }
  if (endUser && endUser.length > END_USER_MAX) {
    throw invalidRequest('end_user', `end_user: must have at most ${END_USER_MAX} characters.`);
  }
  const found = usageOutcomes.find((known) => known === outcome);
  if (outcome && !found) throw invalidRequest('outcome', `outcome: must be one of ${usageOutcomes.join(', ')}.`);
  const filter = {
    ...(model && { model }),
    ...(key && { keyId: key }),
    ...(endUser && { endUser: endUser.toWellFormed() }),
    ...(found && { outcome: outcomes[found] }),
  };
  return Object.keys(filter).length === 0 ? undefined : filter;
};

const readFrom = (query: Query): number | undefined => readMoment(query, 'from')?.ms;

/**
 * End of the range in ms, exclusive. A day is included as a whole; a time is not, so consecutive ranges do not overlap.
 */
const readTo = (query: Query): number | undefined => {
  const moment = readMoment(query, 'to');
  return moment && moment.ms + (moment.isDay ? MS_PER_DAY : 0);
};

const readLimit = ({ limit }: Query): number => {
  if (!limit) return LIMIT_DEFAULT;
  const count = /^\d{1,4}$/.test(limit) ? Number(limit) : 0;
  if (count >= 1 && count <= LIMIT_MAX) return count;
  throw invalidRequest('limit', `limit: must be a whole number from 1 to ${LIMIT_MAX}.`);
};

/** Throws the 400 that names the parameter. An empty parameter counts as absent. */
export const readFormat = ({ format, bom }: Query): Format => {
  if (format && format !== 'json' && format !== 'csv')
    throw invalidRequest('format', 'format: must be one of json, csv.');
  if (bom && bom !== 'true' && bom !== 'false') throw invalidRequest('bom', 'bom: must be one of true, false.');
  if (format !== 'csv') return 'json';
  return bom === 'true' ? 'csv-bom' : 'csv';
};

const holdIdForm = /^[0-7][0-9A-HJKMNP-TV-Z]{25}\.\d$/;

const readCursor = ({ cursor }: Query): string | undefined => {
  if (!cursor) return undefined;
  const holdId = Buffer.from(cursor, 'base64url').toString('latin1');
  if (holdIdForm.test(holdId) && toCursor(holdId) === cursor) return holdId;
  throw invalidRequest('cursor', 'cursor: must be the next_cursor of an earlier page. Start from the first page.');
};

export const toCursor = (holdId: string): string => Buffer.from(holdId, 'latin1').toString('base64url');
