import { ulid } from 'ulid';
import { conditionFor, parsePeriod } from '../../lambdas/core/ledger/caps.ts';
import { placeHold } from '../../lambdas/core/ledger/hold.ts';
import type { Account, ChargeRecord, LedgerStore } from '../../lambdas/core/ledger/ledger.ts';
import { release } from '../../lambdas/core/ledger/release.ts';
import { systemClock } from '../../lambdas/functions/wiring/ledger.ts';
import { MemoryOutbox } from '../support/memory/memory-outbox.ts';

/** API key of a test account, with a cap per day. */
export interface CappedKey {
  readonly accountId: string;
  readonly keyId: string;
  readonly limitPicos: bigint;
}

const DAY_MS = 86_400_000;
const LIFETIME_MS = 600_000;

/** Starts the next day of a cap, as the first hold of a process whose clock is a day ahead, and releases that hold. */
export const startNextDay = async (store: LedgerStore, { accountId, keyId }: CappedKey): Promise<void> => {
  const caps = (await store.readAccount(accountId))?.caps;
  const parts = parsePeriod(caps?.get(keyId)?.period ?? '');
  if (!caps || parts?.kind !== 'day') throw new Error(`${accountId} has no cap per day`);
  const nextDayMs = Date.parse(parts.name) + DAY_MS;
  const deps = {
    store,
    outbox: new MemoryOutbox(),
    clock: systemClock,
    random: Math.random,
    shortestLifetimeMs: LIFETIME_MS,
  };
  const place = () =>
    placeHold(
      { ...deps, clock: { ...systemClock, now: () => nextDayMs } },
      {
        // A sweep by the present clock ends a hold whose release the store does not confirm.
        ...{ accountId, requestId: ulid(), amountPicos: 1n, expiresAtMs: Date.now() + LIFETIME_MS },
        cap: { keyId, kind: parts.kind, epoch: parts.epoch },
      },
    );
  const placed = await place().catch(place);
  if (placed.cap?.period !== conditionFor({ caps, holds: new Map() }, keyId, nextDayMs).period)
    throw new Error('the day did not start');
  await release(deps, placed, { reason: 'upstream_error' });
};

/**
 * Returns a sentence for each violation: in each period the rest, the open holds and the charges add up to the limit, and
 * each charge names the cap.
 */
export const capComplaints = (
  { caps, holds }: Account,
  records: readonly ChargeRecord[],
  { keyId, limitPicos }: CappedKey,
): readonly string[] => {
  const cap = caps.get(keyId);
  if (!cap) return ['the cap is missing'];
  const settled = records.filter(({ outcome }) => outcome === 'settled');
  const isPresent = (one: { readonly cap?: { readonly period: string } | undefined }) => one.cap?.period === cap.period;
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);
  const spent = sum(settled.filter(isPresent).map(({ amountPicos }) => amountPicos));
  const held = sum([...holds.values()].filter(isPresent).map(({ amountPicos }) => amountPicos));
  const unnamed = settled.filter((record) => record.cap?.keyId !== keyId).length;
  return [
    ...(cap.leftPicos + held + spent === limitPicos && cap.limitPicos === limitPicos
      ? []
      : [`of the cap ${limitPicos}, ${cap.leftPicos} is left, ${held} held and ${spent} spent in ${cap.period}`]),
    ...(unnamed === 0 ? [] : [`${unnamed} charges do not name the cap`]),
  ];
};
