import type { KeyView } from '../../core/accounts/key-list.ts';
import { toMasked } from '../../core/accounts/keys.ts';
import { formatUsd } from '../../core/money/usd.ts';

const timeOf = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

const usdOf = (picos: bigint | undefined): string | null => (picos === undefined ? null : formatUsd(picos));

/** API key as its owner sees it (KEY-8). It never has the secret part. */
export const toKeyObject = ({ limits, cap, ...key }: KeyView) => ({
  id: key.keyId,
  object: 'api_key',
  name: key.name,
  masked: toMasked(key.label),
  first: key.isFirst,
  created_at: timeOf(key.createdAtMs),
  last_used_at: timeOf(key.lastUsedAtMs),
  expires_at: timeOf(limits.expiresAtMs),
  limit_usd: usdOf(cap?.limitPicos),
  limit_period: cap?.kind ?? null,
  limit_resets_at: timeOf(cap?.resetsAtMs),
  spent_usd: usdOf(key.spentPicos),
  held_usd: usdOf(cap?.heldPicos),
  models: limits.models ?? null,
  requests_per_second: limits.rate ?? null,
  rights: key.manage ? ['manage'] : [],
  version: key.version,
});
