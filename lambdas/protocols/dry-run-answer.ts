import { formatUsd } from '../core/money/usd.ts';
import type { DryRun } from '../core/paid-call/preflight.ts';
import { type Exchange, type GatewayResponse, json } from '../http/exchange.ts';
import { wireNames } from './price-names.ts';
import { ignoredHeaders } from './receipt-headers.ts';

/** A dry run answers with its own media type, so that it cannot pass for the answer of the request. SDKs read it as JSON. */
export const DRY_RUN_TYPE = 'application/vnd.model-gateway.dry-run+json';

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
  const headers = { 'content-type': `${DRY_RUN_TYPE}; charset=utf-8` };
  return { ...response, headers: { ...headers, ...ignoredHeaders(ignored) } };
};
