import { isCheckAccount } from '../accounts/check-account.ts';
import type { DailyAllowance } from '../accounts/daily-allowance.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Provider } from '../catalog/schema.ts';
import type { Circuits } from '../circuit/circuit.ts';
import type { CapOfKey } from '../ledger/caps.ts';
import type { ChargeRecord, LedgerDependencies } from '../ledger/ledger.ts';
import type { FundedAccounts } from '../limits/funded-accounts.ts';
import type { OpenMemory } from '../limits/request-memory.ts';
import type { PaidEvent } from '../metrics.ts';
import type { EstimateFactor } from '../pricing/estimate-factor.ts';
import type { StoreTime } from '../retry.ts';

/** Dependencies of every paid use case. */
export interface PaidCallDependencies {
  readonly catalog: Catalog;
  /** Whether this environment has a URL and a key for the provider. */
  readonly reachable: (provider: Provider) => boolean;
  readonly ledger: LedgerDependencies;
  readonly circuits: Circuits;
  /** Accounts that are known to have a balance. Undefined if none is known. */
  readonly funded?: Pick<FundedAccounts, 'learnFrom' | 'has' | 'lastAvailable'> | undefined;
  readonly notice: (notice: PaidEvent, requestId: string) => void;
  /** Time from the upstream's deadline to the expiry of the hold, in ms (BILL-13). */
  readonly holdGraceMs: number;
  /** Upper bound on the time of a provider call, in ms, if it is below the limit of LIM-6. */
  readonly upstreamDeadlineMs: number;
  readonly margin?: MarginMeter;
  /** Least allowance of an account and UTC day for uncollected amounts, in pico-USD (BILL-21). */
  readonly uncollectedDailyPicos: bigint;
}

/** Returns the allowance of the caller's account and day, in pico-USD. */
export const allowanceOf = (
  { uncollectedDailyPicos }: Pick<PaidCallDependencies, 'uncollectedDailyPicos'>,
  { allowance }: Pick<Caller, 'allowance'>,
): bigint => {
  const byCharges = allowance?.picos ?? 0n;
  return byCharges > uncollectedDailyPicos ? byCharges : uncollectedDailyPicos;
};

/** Counts charge minus provider cost of a model, in pico-USD. Must not throw. */
export type MarginMeter = (modelId: string, picos: bigint) => void;

/** Counts the margin of a settled record, if the provider cost is known. Checks are not sales (OPS-13). */
export const meterMargin = (
  { margin }: { readonly margin?: MarginMeter },
  { accountId, model, amountPicos, costPicos }: Pick<ChargeRecord, 'accountId' | 'model' | 'amountPicos' | 'costPicos'>,
): void => {
  if (model !== undefined && costPicos !== undefined && !isCheckAccount(accountId))
    margin?.(model, amountPicos - costPicos);
};

/** Timeout of a front door for a response that it cannot start early. */
export type AnswerBy =
  /** The response must start by `atMs` in Unix milliseconds, or be complete. */
  | { readonly atMs: number; readonly covers: 'beginning' | 'all' }
  /** The response must start by `atMs`. From then on, no silence between two pieces can exceed `silenceMs`. */
  | { readonly atMs: number; readonly covers: 'silence'; readonly silenceMs: number };

/** Times of one hold and of the call that it pays for, in Unix ms. An absent time was not reached (OPS-19). */
export interface CallTimes {
  /** Model id of the catalog. */
  readonly modelId: string;
  readonly provider: string;
  readonly holdAtMs: number;
  heldAtMs?: number;
  calledAtMs?: number;
  /** Start of the provider's response. */
  firstByteAtMs?: number;
  /** End of the provider's response. */
  endedAtMs?: number;
  /** Start of the charge or of the release. */
  settleAtMs?: number;
  settledAtMs?: number;
  /** Reason of the release, such as an error code. Undefined after a charge. */
  released?: string;
}

export interface Caller {
  readonly accountId: string;
  readonly requestId: string;
  /** Public id of the API key of the request. */
  readonly keyId?: string | undefined;
  /** Path of the route, such as `/v1/chat/completions`. */
  readonly endpoint?: string | undefined;
  /** Ids of the catalog entries that the API key can call; undefined means all. */
  readonly models?: readonly string[] | undefined;
  /** Time at which the host stops this process, in Unix milliseconds; undefined without such a limit. */
  readonly hostEndsAtMs: number | undefined;
  /** Time that is left for store calls before the provider call. Undefined means no limit. */
  readonly storeTime?: StoreTime | undefined;
  /** Undefined if there is no such timeout, or if the response always starts in time. */
  readonly answerBy?: AnswerBy | undefined;
  /** Factor on the estimate of prompt tokens (BILL-20). Undefined means 1, and none is stored. */
  readonly estimate?: EstimateFactor | undefined;
  /** Allowance of the account for uncollected amounts by its charges (BILL-21). Undefined: 0. */
  readonly allowance?: DailyAllowance | undefined;
  /** Cap of the API key (KEY-9). Undefined without a cap. */
  readonly cap?: CapOfKey | undefined;
  /** Opens memory of the process beyond the body of the request. Undefined if the process limits none (GEN-14). */
  readonly openMemory?: OpenMemory | undefined;
  /** Called with the ms from the provider call to the start of its response. Must not throw. */
  readonly providerTook?: ((ms: number) => void) | undefined;
  /** Gets the times of each hold and call. Undefined if the request has no trace (OPS-19). */
  readonly calls?: CallTimes[] | undefined;
}
