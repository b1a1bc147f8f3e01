import { GatewayError } from '../errors/gateway-error.ts';
import { StoreError } from '../errors/store-error.ts';
import { retryUntilDefinite, within } from '../retry.ts';
import { refusalOf } from './allowance.ts';
import { conditionFor, holdInCap } from './caps.ts';
import { allowanceAt, type HoldParams, nextAfter, type Wanted } from './hold.ts';
import { type Account, balanceOf, HOLDS_MAX, type LedgerDependencies } from './ledger.ts';

/** Hold that will be placed later. */
export type PlannedHold = Omit<HoldParams, 'expiresAtMs' | 'firstId' | 'endId'>;

/**
 * Reads the account and throws the error that a hold would get now. For costly work that precedes the hold. The hold
 * itself still decides, because the account can change meanwhile.
 */
export const requireFunds = async (deps: LedgerDependencies, planned: PlannedHold): Promise<void> => {
  const { accountId, storeTime, amountPicos } = planned;
  const account = await within(storeTime, () =>
    retryUntilDefinite(deps, () => deps.store.readAccount(accountId)),
  ).catch(unreachable);
  if (!account) throw new GatewayError('internal_error', 'The account of this key is missing.');
  const nowMs = deps.clock.now();
  const order = { ...planned, nowMs, expiresAtMs: nowMs };
  const cap = planned.cap && conditionFor(account, planned.cap.keyId, nowMs);
  const wanted = { amountPicos, cap, allowance: allowanceAt(order), mayShrink: planned.smaller !== undefined };
  if (!permits(account, wanted)) await nextAfter(deps, { kind: 'refused', account }, order, wanted);
};

/** Whether the stores would write the hold. */
const permits = (account: Account, { amountPicos, cap, allowance }: Wanted): boolean =>
  account.status === 'active' &&
  account.holds.size < HOLDS_MAX &&
  balanceOf(account) > 0n &&
  account.availablePicos >= amountPicos &&
  holdInCap(account.caps, cap, amountPicos) !== undefined &&
  refusalOf(account, allowance) === undefined;

const unreachable = (error: unknown): never => {
  if (!(error instanceof StoreError)) throw error;
  throw new GatewayError(
    'service_unavailable',
    'The balance cannot be reached now. Nothing was charged. Retry the request.',
    { cause: error },
  );
};
