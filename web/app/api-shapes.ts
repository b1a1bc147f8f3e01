import {
  type Checked,
  isFlag,
  isMoment,
  isNumber,
  isText,
  isUsd,
  listOf,
  oneOf,
  orNone,
  orNull,
  recordOf,
  withMembers,
} from './shapes.ts';

/** Parts of the gateway's responses that this page uses. Amounts are decimal strings in USD. */
export const isAccount = withMembers({
  id: isText,
  status: isText,
  balance_usd: isUsd,
  available_usd: isUsd,
  held_usd: isUsd,
  open_holds: isNumber,
  days_left: orNull(isNumber),
  threshold_usd: isUsd,
  key: orNull(withMembers({ id: isText, masked: isText, issued_at: isMoment, revoked: isFlag })),
  top_up_url: orNull(isText),
  top_up_text: orNull(isText),
});
export type Account = Checked<typeof isAccount>;

const isUsageRow = withMembers({
  id: isText,
  created_at: isMoment,
  outcome: oneOf(['charged', 'released', 'open']),
  reason: orNull(isText),
  model: orNull(isText),
  usage: orNull(recordOf(isNumber)),
  prices_usd: orNull(recordOf(isUsd)),
  cost_usd: orNull(isUsd),
  overage: isFlag,
  end_user: orNull(isText),
  ignored: listOf(isText),
  endpoint: orNull(isText),
  key_id: orNull(isText),
  provider: orNull(isText),
  first_byte_ms: orNull(isNumber),
  total_ms: orNull(isNumber),
});
export type UsageRow = Checked<typeof isUsageRow>;

export const isUsagePage = withMembers({ data: listOf(isUsageRow), next_cursor: orNull(isText) });
export type UsagePage = Checked<typeof isUsagePage>;

const isModelSpend = withMembers({ model: orNull(isText), cost_usd: isUsd, requests: isNumber });
export type ModelSpend = Checked<typeof isModelSpend>;

const isDaySpend = withMembers({
  day: isMoment,
  cost_usd: isUsd,
  requests: isNumber,
  failed: isNumber,
  models: listOf(isModelSpend),
});

export const isSpend = withMembers({
  complete: isFlag,
  requests: isNumber,
  failed: isNumber,
  total_usd: isUsd,
  days: listOf(isDaySpend),
  models: listOf(isModelSpend),
});
export type Spend = Checked<typeof isSpend>;

const isSummaryRow = withMembers({ key_id: orNull(isText), model: orNull(isText), other: isFlag, cost_usd: isUsd });
export const isSummary = withMembers({ complete: isFlag, data: listOf(isSummaryRow) });
export type Summary = Checked<typeof isSummary>;

/** Prices in USD of one unit of each count, such as one token, with the names of receipts. */
const isPriceRow = withMembers({
  protocols: listOf(isText),
  from: orNull(isMoment),
  until: orNull(isMoment),
  when: withMembers({
    input_tokens_above: orNone(isNumber),
    pixels_above: orNone(isNumber),
    pixels_max: orNone(isNumber),
    size_tier: orNone(isText),
    sizes: orNone(listOf(isText)),
  }),
  prices_usd: recordOf(isUsd),
});
export type PriceRow = Checked<typeof isPriceRow>;

const isPriceExample = withMembers({
  size: orNull(isText),
  quality: orNull(isText),
  seconds: orNull(isNumber),
  usd: isUsd,
});
export type PriceExample = Checked<typeof isPriceExample>;

const isModel = withMembers({
  id: isText,
  kind: isText,
  owned_by: isText,
  protocols: listOf(isText),
  prices: listOf(isPriceRow),
  examples: listOf(isPriceExample),
  lifecycle: withMembers({ shutdown_date: orNull(isMoment), replacement: orNull(isText) }),
});
export type Model = Checked<typeof isModel>;

export const isModelList = withMembers({ data: listOf(isModel) });
export const isThreshold = withMembers({ threshold_usd: isUsd });

export const isNewKey = withMembers({ key: isText, id: isText, masked: isText });
export type NewKey = Checked<typeof isNewKey>;

export const capPeriods = ['total', 'day', 'month'] as const;
export type CapPeriod = (typeof capPeriods)[number];

const ofApiKey = {
  id: isText,
  name: isText,
  masked: isText,
  first: isFlag,
  last_used_at: orNull(isMoment),
  expires_at: orNull(isMoment),
  limit_usd: orNull(isUsd),
  limit_period: orNull(oneOf(capPeriods)),
  limit_resets_at: orNull(isMoment),
  spent_usd: orNull(isUsd),
  held_usd: orNull(isUsd),
  models: orNull(listOf(isText)),
  requests_per_second: orNull(isNumber),
  rights: listOf(isText),
  version: isNumber,
};
export const isApiKey = withMembers(ofApiKey);
export type ApiKey = Checked<typeof isApiKey>;
export const isApiKeyList = withMembers({ data: listOf(isApiKey) });

export const isCreatedKey = withMembers({ ...ofApiKey, key: isText });
export type CreatedKey = Checked<typeof isCreatedKey>;
export const isRevokedKey = withMembers({ id: isText, deleted: isFlag });

/** Fields of an API key to set. An absent field stays as it is, and null removes a restriction. */
export interface KeyChange {
  readonly name?: string;
  readonly limit_usd?: string | null;
  readonly limit_period?: CapPeriod;
  readonly expires_at?: string | null;
  readonly models?: readonly string[] | null;
  readonly requests_per_second?: number | null;
  readonly rights?: readonly string[];
}

export const isErrorBody = withMembers({
  error: withMembers({ code: isText, message: isText, param: orNone(orNull(isText)) }),
});
