import { formatUsd } from '../core/money/usd.ts';
import type { DryRun } from '../core/paid-call/dry-run.ts';
import { type Exchange, type GatewayResponse, json } from '../http/exchange.ts';
import { wireNames } from './price-names.ts';
import { ignoredHeaders } from './receipt-headers.ts';

/** BILL-16. `prices` are USD for one of each unit: a token, or a second of video. */
export const dryRunAnswer = (
  { summary }: Exchange,
  { model, holdPicos, outputTokensMax, prices, ignored }: DryRun,
): GatewayResponse => {
  summary.dryRun = true;
  const response = json(200, {
    object: 'dry_run',
    model: model.id,
    hold_usd: formatUsd(holdPicos),
    max_tokens: outputTokensMax ?? null,
    prices: wireNames(prices, formatUsd),
  });
  return { ...response, headers: { ...response.headers, ...ignoredHeaders(ignored) } };
};
