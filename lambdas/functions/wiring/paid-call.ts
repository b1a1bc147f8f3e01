import { createCircuits } from '../../core/circuit/breaker.ts';
import type { Circuits } from '../../core/circuit/circuit.ts';
import type { IdempotencyDependencies } from '../../core/idempotency/claim-store.ts';
import type { MediaDependencies } from '../../core/images/media.ts';
import type { LedgerDependencies } from '../../core/ledger/ledger.ts';
import { FundedAccounts } from '../../core/limits/funded-accounts.ts';
import { parseUsd } from '../../core/money/usd.ts';
import type { PaidCallDependencies } from '../../core/paid-call/dependencies.ts';
import type { HttpDependencies } from '../../http/handler.ts';
import type { FunctionDependencies, VideoFunctionDependencies } from './dependencies.ts';
import { toHttpDependencies } from './http.ts';
import { toLedgerDependencies, toMarginMeter } from './ledger.ts';

export const toCircuits = ({ circuitStore, clock, pauses, reporting, settings }: VideoFunctionDependencies): Circuits =>
  createCircuits(
    { store: circuitStore, clock, pauses, notice: (notice, circuit) => reporting.notice(notice, { circuit }) },
    {
      failures: settings.CIRCUIT_FAILURES,
      calls: settings.CIRCUIT_CALLS,
      openMs: settings.CIRCUIT_OPEN_SECONDS * 1_000,
    },
  );

export const toPaidCallDependencies = (deps: FunctionDependencies): PaidCallDependencies => {
  const { settings, reporting } = deps;
  return {
    catalog: deps.catalog,
    reachable: ({ id }) => deps.vendorAccess(id) !== undefined,
    ledger: toLedgerDependencies(deps),
    circuits: toCircuits(deps),
    margin: toMarginMeter(reporting),
    notice: (notice, requestId) => reporting.notice(notice, { requestId }),
    holdGraceMs: settings.HOLD_GRACE_SECONDS * 1_000,
    upstreamDeadlineMs: settings.UPSTREAM_DEADLINE_SECONDS * 1_000,
    uncollectedDailyPicos: parseUsd(settings.UNCOLLECTED_DAILY_USD),
  };
};

export const toIdempotencyDependencies = (
  { claims, answers, settings }: FunctionDependencies,
  ledger: LedgerDependencies,
): IdempotencyDependencies => ({
  claims,
  answers,
  ledger,
  leaseMs: settings.CLAIM_LEASE_SECONDS * 1_000,
});

/** Limits, body budget and circuits that all handlers of one process share. */
export interface ProcessDependencies {
  readonly http: HttpDependencies;
  readonly paid: PaidCallDependencies;
}

export const toProcessDependencies = (deps: FunctionDependencies): ProcessDependencies => {
  const funded = new FundedAccounts(deps.clock);
  return {
    http: toHttpDependencies(deps, funded),
    paid: { ...toPaidCallDependencies(deps), funded },
  };
};

/** Throws if the settings contain no base URL for links. */
export const toMediaDependencies = ({
  media,
  newMediaToken,
  settings,
  publicUrl,
}: FunctionDependencies): MediaDependencies => {
  const url = settings.MEDIA_URL ?? publicUrl;
  if (url === undefined)
    throw new Error('MEDIA_URL: neither MEDIA_URL nor the public URL is set. Set one of them for links to images');
  return { media, newMediaToken, mediaUrl: url.replace(/\/+$/, '') };
};
