import type { ApiKey, CapPeriod, KeyChange } from './api-shapes.ts';
import { readTypedUsd } from './usd.ts';

/** Fields of the form of an API key, as the user types them. An empty text does not restrict the key. */
export interface KeyDraft {
  readonly name: string;
  readonly limit: string;
  readonly period: CapPeriod;
  /** Local time, as a field of the browser has it. */
  readonly expires: string;
  readonly models: string;
  readonly rate: string;
  readonly manage: boolean;
}

export const emptyDraft: KeyDraft = {
  name: '',
  limit: '',
  period: 'month',
  expires: '',
  models: '',
  rate: '',
  manage: false,
};

export const draftOf = (key: ApiKey): KeyDraft => ({
  name: key.name,
  limit: key.limit_usd ?? '',
  period: key.limit_period ?? emptyDraft.period,
  expires: key.expires_at === null ? '' : toLocal(key.expires_at),
  models: (key.models ?? []).join(', '),
  rate: key.requests_per_second === null ? '' : String(key.requests_per_second),
  manage: key.rights.includes('manage'),
});

/** Converts a moment to the text of a `datetime-local` field, in the time zone of the browser. */
const toLocal = (moment: string): string => {
  const at = new Date(moment);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

/** Name of a field that cannot be read, as the gateway names it. */
export type WrongField = 'name' | 'limit_usd' | 'expires_at' | 'requests_per_second';

interface Restrictions {
  readonly limit: string | null;
  readonly rate: number | null;
  readonly expires: string | null;
}

const readRestrictions = ({ limit: usd, rate: perSecond, expires: until }: KeyDraft): Restrictions | WrongField => {
  const limit = usd.trim() === '' ? null : readTypedUsd(usd);
  const rate = perSecond.trim() === '' ? null : Number(perSecond.trim().replace(',', '.'));
  const expires = until === '' ? null : new Date(until);
  if (limit === undefined) return 'limit_usd';
  if (Number.isNaN(rate)) return 'requests_per_second';
  if (expires === null) return { limit, rate, expires };
  return Number.isNaN(expires.getTime()) ? 'expires_at' : { limit, rate, expires: expires.toISOString() };
};

const capOf = ({ limit }: Restrictions, period: CapPeriod): KeyChange =>
  limit === null ? { limit_usd: null } : { limit_usd: limit, limit_period: period };

const modelsOf = (text: string): readonly string[] | null => {
  const models = text.split(/[\s,]+/).filter((id) => id !== '');
  return models.length === 0 ? null : models;
};

/** Returns the change from one draft to another, or the field that cannot be read. */
export const changeOf = (before: KeyDraft, after: KeyDraft): KeyChange | WrongField => {
  if (after.name.trim() === '') return 'name';
  const read = readRestrictions(after);
  if (typeof read === 'string') return read;
  const hasOtherCap = after.limit !== before.limit || (read.limit !== null && after.period !== before.period);
  return {
    ...(after.name !== before.name && { name: after.name.trim() }),
    ...(hasOtherCap && capOf(read, after.period)),
    ...(after.expires !== before.expires && { expires_at: read.expires }),
    ...(after.models !== before.models && { models: modelsOf(after.models) }),
    ...(after.rate !== before.rate && { requests_per_second: read.rate }),
    ...(after.manage !== before.manage && { rights: after.manage ? ['manage'] : [] }),
  };
};
