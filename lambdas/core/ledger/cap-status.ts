import { GatewayError, invalidRequest } from '../errors/gateway-error.ts';
import { formatUsd } from '../money/usd.ts';
import { type CapChange, type CapKind, type Caps, conditionFor, holdsInCap, leftFor, parsePeriod } from './caps.ts';
import type { Hold } from './ledger.ts';

/** Part of an account that decides about its caps. */
interface CappedAccount {
  readonly caps: Caps;
  readonly holds: ReadonlyMap<string, Hold>;
}

/** State of a cap in its present period. All amounts are pico-USD. */
export interface CapStatus {
  readonly kind: CapKind;
  readonly limitPicos: bigint;
  /** Can be below 0, after a charge above its hold. */
  readonly leftPicos: bigint;
  /** Sum of the open holds of the period. */
  readonly heldPicos: bigint;
  /** Open holds of the period. */
  readonly open: readonly Hold[];
  /** Charges of the period. */
  readonly spentPicos: bigint;
  /** Unix ms at which the next period starts. Undefined: the cap never resets. */
  readonly resetsAtMs: number | undefined;
}

/** Returns the state of the cap of an API key at this time. Undefined if the account has no cap for it. */
export const capStatus = ({ caps, holds }: CappedAccount, keyId: string, nowMs: number): CapStatus | undefined => {
  const cap = caps.get(keyId);
  if (!cap) return undefined;
  const { kind, limitPicos } = cap;
  const condition = conditionFor({ caps, holds }, keyId, nowMs);
  const period = condition.period ?? cap.period;
  const leftPicos = leftFor(caps, condition) ?? cap.leftPicos;
  const open = holdsInCap(holds, { keyId, period });
  const heldPicos = open.reduce((sum, { amountPicos }) => sum + amountPicos, 0n);
  const spentPicos = limitPicos - leftPicos - heldPicos;
  return { kind, limitPicos, leftPicos, heldPicos, spentPicos, open, resetsAtMs: endOf(period) };
};

const MS_PER_DAY = 86_400_000;

/** Returns Unix ms of the end of a period. Undefined if it has none. */
const endOf = (period: string): number | undefined => {
  const parts = parsePeriod(period);
  if (!parts || parts.kind === 'total') return undefined;
  if (parts.kind === 'day') return Date.parse(parts.name) + MS_PER_DAY;
  const [year = 0, month = 0] = parts.name.split('-').map(Number);
  return Date.UTC(year, month, 1);
};

const kindWords: Readonly<Record<CapKind, string>> = {
  total: 'in total',
  day: 'per day (UTC)',
  month: 'per month (UTC)',
};

const inUtc = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');

/** Returns sentences with the sum of the open holds and their last expiry, because a crash leaves holds until then. */
export const describeHolds = (holds: readonly Hold[]): string => {
  const heldPicos = holds.reduce((sum, { amountPicos }) => sum + amountPicos, 0n);
  if (heldPicos === 0n) return '';
  const held = `${formatUsd(heldPicos)} USD is held by requests in progress.`;
  // Only a newer release knows the expiry of its holds.
  const expiries = holds.filter(({ isNewer }) => !isNewer).map(({ expiresAtMs }) => expiresAtMs);
  return expiries.length === 0 ? held : `${held} The last of these holds expires at ${inUtc(Math.max(...expiries))}.`;
};

interface RefusedHold {
  readonly keyId: string;
  /** Pico-USD. */
  readonly amountPicos: bigint;
  readonly nowMs: number;
  /** Sentence with what the rest of the cap pays for. */
  readonly advice: string | undefined;
  /** Clause with how the client makes the request fit. */
  readonly reduction?: string | undefined;
}

/** Returns the client's error for a hold that the cap of its API key does not cover. */
export const capExceeded = (
  account: CappedAccount,
  { keyId, amountPicos, nowMs, advice = '', reduction = 'send a smaller request' }: RefusedHold,
): GatewayError => {
  const status = capStatus(account, keyId, nowMs);
  if (!status) throw new Error('the API key has no cap');
  const { kind, limitPicos, leftPicos, open, resetsAtMs } = status;
  const sentences = [
    `This request needs a hold of up to ${formatUsd(amountPicos)} USD, but only ${formatUsd(leftPicos > 0n ? leftPicos : 0n)} USD is left of the cap of this API key: ${formatUsd(limitPicos)} USD ${kindWords[kind]}.`,
    describeHolds(open),
    advice,
    resetsAtMs === undefined ? 'The cap never resets.' : `The cap resets at ${inUtc(resetsAtMs)}.`,
    `Raise the cap, or ${reduction}.`,
  ];
  return new GatewayError('key_limit_exceeded', sentences.filter(Boolean).join(' '));
};

/**
 * Returns 400 for a new limit below the charges and open holds of the present period. Undefined if the change is
 * possible. A cap of another kind starts a new period.
 */
export const refuseLimitBelowUse = (
  account: CappedAccount,
  keyId: string,
  change: CapChange | undefined,
  nowMs: number,
): GatewayError | undefined => {
  const status = capStatus(account, keyId, nowMs);
  if (!change || status?.kind !== change.kind) return undefined;
  const usedPicos = status.limitPicos - status.leftPicos;
  if (change.limitPicos >= usedPicos) return undefined;
  return invalidRequest(
    'limit_usd',
    `limit_usd: ${formatUsd(change.limitPicos)} USD is below the ${formatUsd(usedPicos)} USD that this API key has spent and holds in the present period. Use a higher limit.`,
  );
};
