import {
  type Checked,
  type Is,
  isFlag,
  isMembers,
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
});
export type Account = Checked<typeof isAccount>;

const isUsageRow = withMembers({
  id: isText,
  created_at: isMoment,
  outcome: oneOf(['charged', 'released', 'open']),
  reason: orNull(isText),
  model: orNull(isText),
  usage: orNull(recordOf(isNumber)),
  cost_usd: orNull(isUsd),
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

/** Each rate is a separate member, a decimal string for one `unit`, so unknown members are kept. */
const andRates =
  <T>(is: Is<T>): Is<T & Readonly<Record<string, unknown>>> =>
  (value): value is T & Readonly<Record<string, unknown>> =>
    isMembers(value) && is(value);

const isPriceRow = andRates(
  withMembers({
    unit: isText,
    from: orNull(isMoment),
    until: orNull(isMoment),
    tiers: listOf(andRates(withMembers({ above_input_tokens: isNumber }))),
    by_tier: orNone(recordOf(isUsd)),
    by_size: orNone(recordOf(isUsd)),
    by_pixels: orNone(listOf(withMembers({ max_pixels: orNull(isNumber), per_image: isUsd }))),
  }),
);
export type PriceRow = Checked<typeof isPriceRow>;

const isModel = withMembers({
  id: isText,
  kind: isText,
  owned_by: isText,
  protocols: listOf(isText),
  prices: listOf(isPriceRow),
  lifecycle: withMembers({ shutdown_date: orNull(isMoment), replacement: orNull(isText) }),
});
export type Model = Checked<typeof isModel>;

export const isModelList = withMembers({ data: listOf(isModel) });
export const isThreshold = withMembers({ threshold_usd: isUsd });

export const isNewKey = withMembers({ key: isText, id: isText, masked: isText });
export type NewKey = Checked<typeof isNewKey>;

export const isErrorBody = withMembers({ error: withMembers({ code: isText, message: isText }) });
