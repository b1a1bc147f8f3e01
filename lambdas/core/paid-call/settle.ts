import type { DailyAllowance } from '../accounts/daily-allowance.ts';
import { withoutMarkup } from '../catalog/catalog.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { StoreError } from '../errors/store-error.ts';
import type { StoredResponse } from '../idempotency/claim-store.ts';
import { type ClaimedRequest, ClaimLost } from '../idempotency/claimed-execution.ts';
import type { PlacedHold } from '../ledger/hold.ts';
import type { ChargeRecord } from '../ledger/ledger.ts';
import { balanceOf } from '../ledger/ledger.ts';
import { enqueueSettlement } from '../ledger/outbox.ts';
import { apply, commit } from '../ledger/resolve.ts';
import { billOf, type Charge, hasNoCount, type TokenUsage, USAGE_MISSING } from '../pricing/charge.ts';
import type { CallReport } from './call-report.ts';
import { meterMargin, type PaidCallDependencies } from './dependencies.ts';

/** Data that is needed to charge a request. */
export interface Settlement {
  readonly modelId: string;
  readonly endUser: string | undefined;
  /** Names of the ignored request fields. */
  readonly ignored?: readonly string[] | undefined;
  /** Whether the gateway ended the output at a stop sequence, known once the response has been read (CHAT-17). */
  readonly cutter?: { readonly hasCut: boolean } | undefined;
  readonly placedHold: PlacedHold;
  /** Returns the actual usage times the prices of the hold (BILL-3). */
  readonly chargeFor: (usage: TokenUsage | undefined) => Charge;
  /**
   * Whether a response without usage raises an alarm, because the model is priced by the provider's count (BILL-10).
   */
  readonly expectsUsage: boolean;
  /** Called once the charge is committed, if it is above the hold (BILL-20). Must not reject. */
  readonly onOverage?: ((usage: TokenUsage) => Promise<void>) | undefined;
  /** Claim of a request with an idempotency key. */
  readonly claimed?: ClaimedRequest | undefined;
  /** Allowance of the account for uncollected amounts, which a charge can raise (BILL-21). */
  readonly allowance?: DailyAllowance | undefined;
  /** Undefined if the record has no facts about the provider call. */
  readonly callReport?: CallReport | undefined;
}

/** Cost and balance for the client (BILL-15). */
export interface Receipt {
  readonly costPicos: bigint;
  readonly usage: TokenUsage | undefined;
  /** Balance after this request's own last write; undefined if another process made that write. */
  readonly balancePicos: bigint | undefined;
}

/** A committed charge. */
export interface Committed {
  readonly record: ChargeRecord;
  /** Whether the charge waits in the outbox, whose worker updates the account. */
  readonly noted: boolean;
}

/**
 * Writes the charge record, which charges the request. `toAnswer` returns the response that a repeat under the same
 * idempotency key gets. Throws GatewayError if the charge failed or the hold was released in the meantime, and
 * ClaimLost if another request has the claim. The response must then not be sent as a success.
 */
export const commitCharge = async (
  deps: PaidCallDependencies,
  settlement: Settlement,
  usage: TokenUsage | undefined,
  toAnswer?: (costPicos: bigint) => StoredResponse | undefined,
): Promise<Committed> => {
  const { placedHold, chargeFor, claimed, callReport } = settlement;
  callReport?.mark('settleAtMs');
  const charge = chargeFor(usage);
  const loseIt = (): void => deps.ledger.meter?.({ uncollected: charge.amountPicos });
  let committed: Committed;
  try {
    const toStore = toAnswer?.(charge.amountPicos);
    const answer = claimed && toStore && (await claimed.stageResponse(placedHold.holdId, toStore));
    claimed?.charging();
    committed = await writeRecord(deps, settlement, toRecord(deps, settlement, charge, answer));
  } catch (error) {
    // The response must not be sent. A charge may exist only if the store failed.
    loseIt();
    throw error;
  }
  const reported = report(deps, settlement, charge, usage);
  if (reported) await reported;
  meterMargin(deps, committed.record);
  if (committed.record.outcome === 'settled') return committed;
  deps.notice('late_settlement', placedHold.requestId);
  loseIt();
  if (claimed) throw new ClaimLost();
  throw new GatewayError(
    'internal_error',
    'The response arrived after its hold expired. Nothing was charged. Retry the request.',
  );
};

/** BILL-10: whether a response that should be charged by the provider's counts has none above 0. */
const isUsageMissing = ({ expectsUsage }: Settlement, { usage }: Charge): boolean => expectsUsage && hasNoCount(usage);

const isOverage = ({ placedHold }: Settlement, { amountPicos }: Charge): boolean =>
  amountPicos > placedHold.amountPicos;

const toRecord = (
  { ledger, catalog }: PaidCallDependencies,
  settlement: Settlement,
  charge: Charge,
  answer: string | undefined,
): ChargeRecord => {
  const { modelId, endUser, ignored, cutter, placedHold, callReport } = settlement;
  const { amountPicos, usage, prices, implausible } = charge;
  const billedPicos = billOf(charge);
  return {
    accountId: placedHold.accountId,
    holdId: placedHold.holdId,
    requestId: placedHold.requestId,
    outcome: 'settled',
    amountPicos,
    at: ledger.clock.now(),
    model: modelId,
    usage,
    prices,
    ...(isUsageMissing(settlement, charge) ? { reason: USAGE_MISSING } : {}),
    ...(isOverage(settlement, charge) ? { overage: true } : {}),
    ...(implausible ? { implausible } : {}),
    ...(cutter?.hasCut ? { cutAtStop: true } : {}),
    // A store can reject half of a character, and then the request could not be charged.
    ...(endUser === undefined ? {} : { endUser: endUser.toWellFormed() }),
    ...(ignored?.length ? { ignored } : {}),
    ...(answer === undefined ? {} : { answer }),
    ...callReport?.facts(),
    ...(billedPicos === undefined ? {} : { costPicos: withoutMarkup(catalog, billedPicos) }),
    ...(placedHold.cap && { cap: placedHold.cap }),
  };
};

/** Reports what is unusual about a charge. Returns a promise if the report takes time. */
const report = (
  deps: PaidCallDependencies,
  settlement: Settlement,
  charge: Charge,
  usage: TokenUsage | undefined,
): Promise<void> | undefined => {
  const { modelId, placedHold } = settlement;
  if (charge.implausible) deps.notice('usage_implausible', placedHold.requestId);
  if (isOverage(settlement, charge)) deps.notice('overage', placedHold.requestId);
  if (usage?.totalDiffers) deps.notice('usage_total_differs', placedHold.requestId);
  if (!isUsageMissing(settlement, charge)) return undefined;
  deps.notice('usage_missing', placedHold.requestId);
  return deps.circuits.usageMissing(modelId, placedHold.accountId);
};

const ifStoreError = (error: unknown): undefined => {
  if (!(error instanceof StoreError)) throw error;
};

/** Longest time to write a charge record before the outbox is used, in ms. */
const COMMIT_LIMIT_MS = 3_000;

/**
 * Writes the charge record. If the result is unknown, an outbox entry makes sure that the charge is written (BILL-14).
 * If no entry can be written, a released record decides: if the store rejects it, the charge exists and the client gets
 * the response; if the store accepts it, the charge can never happen.
 */
const writeRecord = async (
  deps: PaidCallDependencies,
  { placedHold, claimed }: Settlement,
  record: ChargeRecord,
): Promise<Committed> => {
  try {
    return { record: await commit(deps.ledger, record, COMMIT_LIMIT_MS), noted: false };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const { accountId, holdId, requestId, at } = record;
    const takenOverAtMs = () => claimed?.takenOverAtMs ?? Number.POSITIVE_INFINITY;
    if (await enqueueSettlement(deps.ledger, placedHold, record, takenOverAtMs)) {
      deps.notice('settled_by_note', requestId);
      return { record, noted: true };
    }
    const released = { accountId, holdId, requestId, at, outcome: 'released', amountPicos: 0n } as const;
    const standing = await commit(deps.ledger, { ...released, reason: 'commit_failed' }).catch(ifStoreError);
    if (standing?.outcome === 'settled') return { record: standing, noted: false };
    deps.notice('commit_failed', requestId);
    throw new GatewayError(
      'service_unavailable',
      'The charge could not be recorded, so the response is not sent. Check GET /api/usage before you retry.',
      {
        cause: error,
      },
    );
  }
};

/** Updates the account. If the store fails, the sweeper finishes; the charge is already committed. */
export const applyCharge = async (
  deps: PaidCallDependencies,
  { placedHold, callReport }: Settlement,
  { record, noted }: Committed,
): Promise<bigint | undefined> => {
  try {
    if (noted) return undefined;
    const account = await apply(deps.ledger, record, placedHold.amountPicos);
    return account && balanceOf(account);
  } catch {
    // Whatever the error is, the response is paid for and belongs to the client.
    deps.notice('apply_failed', record.requestId);
    return undefined;
  } finally {
    callReport?.mark('settledAtMs');
  }
};

/** Passes on the usage of a charge above its hold. Runs beside `applyCharge`, so that no store trip follows another. */
export const learnFromOverage = (
  { onOverage }: Settlement,
  { record }: Committed,
  usage: TokenUsage | undefined,
): Promise<void> | undefined => (record.overage && usage ? onOverage?.(usage) : undefined);

/** Stores the allowance that the account has by its charges. Runs beside `applyCharge`, too. */
export const refreshAllowance = (
  { uncollectedDailyPicos }: PaidCallDependencies,
  { allowance, placedHold }: Settlement,
): Promise<void> | undefined => allowance?.refresh(placedHold.account, uncollectedDailyPicos);

/** Settles a response without a stream: commits and applies the charge before the response is sent. */
export const settle = async (
  deps: PaidCallDependencies,
  settlement: Settlement,
  usage: TokenUsage | undefined,
  toAnswer?: (costPicos: bigint) => StoredResponse | undefined,
): Promise<Receipt> => {
  const committed = await commitCharge(deps, settlement, usage, toAnswer);
  const applied = applyCharge(deps, settlement, committed);
  const learnt = learnFromOverage(settlement, committed, usage);
  const refreshed = refreshAllowance(deps, settlement);
  // A repeated request also finds the response by its record.
  const completed = settlement.claimed?.complete().catch(() => deps.notice('apply_failed', committed.record.requestId));
  // Each promise costs time, and nearly every request has only the first.
  const isAlone = !(learnt || refreshed || completed);
  const [balancePicos] = isAlone ? [await applied] : await Promise.all([applied, learnt, refreshed, completed]);
  return { costPicos: committed.record.amountPicos, usage, balancePicos };
};
