import { isCheckAccount, SEEN_ADDRESS_HEADER } from '../core/accounts/check-account.ts';
import { formatUsd } from '../core/money/usd.ts';
import type { DryRun } from '../core/paid-call/preflight.ts';
import type { Receipt } from '../core/paid-call/settle.ts';
import { answerTokensOf, promptTokensOf } from '../core/pricing/charge.ts';
import { type Exchange, type GatewayResponse, json, type Summary } from '../http/exchange.ts';

/** Facts that belong to a response permanently: a replay has them, too (IDEM-2). */
export interface AnswerFacts {
  readonly modelId: string;
  /** Requested model, if the fallback model served the request (FALL-3). */
  readonly fallbackFrom?: string | undefined;
  /** Output limit that the gateway chose (BILL-6). */
  readonly chosenCap?: number | undefined;
  /** Names of the request's fields that were ignored (GEN-16). */
  readonly ignored?: readonly string[] | undefined;
}

export const factHeaders = ({ modelId, fallbackFrom, chosenCap, ignored }: AnswerFacts): Record<string, string> => ({
  ...(fallbackFrom === undefined ? {} : { 'x-service-model-used': modelId, 'x-service-fallback-from': fallbackFrom }),
  ...(chosenCap === undefined ? {} : { 'x-service-max-tokens': String(chosenCap) }),
  ...ignoredHeaders(ignored),
});

export const ignoredHeaders = (ignored: readonly string[] | undefined): Record<string, string> =>
  ignored?.length ? { 'x-service-ignored-parameters': ignored.join(',') } : {};

/** BILL-15, for responses that wait for their settlement. */
export const costHeaders = (costPicos: bigint): Record<string, string> => ({
  'x-service-cost-usd': formatUsd(costPicos),
});

/** Balance after this request's last write. A replay omits it, because the balance may have changed since. */
export const balanceHeaders = (balancePicos: bigint | undefined): Record<string, string> =>
  balancePicos === undefined ? {} : { 'x-service-balance-usd': formatUsd(balancePicos) };

/** Records a charge for the request log. */
export const recordReceipt = (summary: Summary, { costPicos, usage }: Receipt): void => {
  summary.costPicos = costPicos;
  if (!usage) return;
  summary.inputTokens = promptTokensOf(usage);
  summary.outputTokens = answerTokensOf(usage);
};

/** Converts a name such as `cacheWrite1h` to `cache_write_1h`. */
export const toWireName = (name: string): string => name.replace(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`);

/** Sorted by name, so that two reads of one record are equal: stores do not keep the order. */
export const wireNames = <From, To>(
  values: Readonly<Record<string, From>>,
  to: (value: From) => To,
): Record<string, To> =>
  Object.fromEntries(
    Object.keys(values)
      .sort()
      .flatMap((name) => {
        const value = values[name];
        return value === undefined ? [] : [[toWireName(name), to(value)]];
      }),
  );

/** Media type of a dry run, so that its response cannot be mistaken for that of the request. SDKs read it as JSON. */
export const DRY_RUN_TYPE = 'application/vnd.model-gateway.dry-run+json';

/** BILL-16. `prices_usd` has the names and units of a receipt. `prices` is an earlier name with the same value. */
export const dryRunAnswer = (
  exchange: Exchange,
  { model, holdPicos, outputTokensMax, prices, estimateFactor, ignored }: DryRun,
): GatewayResponse => {
  exchange.summary.dryRun = true;
  const listed = wireNames(prices, formatUsd);
  const response = json(200, {
    object: 'dry_run',
    model: model.id,
    hold_usd: formatUsd(holdPicos),
    max_tokens: outputTokensMax ?? null,
    prices_usd: listed,
    prices: listed,
    ...(estimateFactor === undefined ? {} : { estimate_factor: estimateFactor }),
  });
  const headers = { 'content-type': `${DRY_RUN_TYPE}; charset=utf-8` };
  return { ...response, headers: { ...headers, ...ignoredHeaders(ignored), ...seenAddress(exchange) } };
};

/** Client IP for the deployment check, which compares it with its own IP address. */
const seenAddress = ({ clientIp, admission }: Exchange): Record<string, string> =>
  clientIp !== undefined && admission && isCheckAccount(admission.accountId) ? { [SEEN_ADDRESS_HEADER]: clientIp } : {};
