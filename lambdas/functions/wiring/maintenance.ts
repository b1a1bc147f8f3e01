import { type Clock, inTime, isAhead } from '../../core/clock.ts';
import type { MaintenanceState, MaintenanceStore } from '../../core/maintenance.ts';
import type { LedgerFunctionDependencies, Reporting } from './dependencies.ts';
import { keepRefreshing } from './refreshing-value.ts';
import { nameOf } from './secrets.ts';

/** Least time in ms between the starts of two reads. */
const REREAD_PAUSE_MS = 5_000;
/** Age in ms above which a request waits for a new value. A frozen process can wake up with a value of hours ago. */
const MAX_AGE_MS = 10_000;
/** Longest wait of a request for a new value, in ms. */
const REREAD_WAIT_MS = 500;

interface SwitchDependencies {
  readonly store: Pick<MaintenanceStore, 'read'>;
  readonly clock: Clock;
  readonly notice: Reporting['notice'];
}

/**
 * Returns the state of the maintenance switch for the requests of a process. Under traffic it reads in the background.
 * Only a request that finds a value older than 10 s waits, at most 500 ms. A failed read keeps the known state, which is
 * `off` at the start, because a failure of the switch must not stop a gateway that works.
 */
export const createMaintenanceSwitch = ({
  store,
  clock,
  notice,
}: SwitchDependencies): (() => MaintenanceState | Promise<MaintenanceState>) => {
  let knownAtMs = -Infinity;
  const kept = keepRefreshing<MaintenanceState>('off', {
    read: async () => {
      const askedAtMs = clock.now();
      const state = await store.read();
      // A later value stays, unless the clock stepped back since.
      if (!isAhead(knownAtMs, askedAtMs, MAX_AGE_MS)) knownAtMs = askedAtMs;
      return state;
    },
    clock,
    firstReadAtMs: -Infinity,
    pauseMs: REREAD_PAUSE_MS,
    onFailure: (error) => notice('maintenance_unreadable', { reason: nameOf(error) }),
  });
  return () => {
    const reading = kept.refresh();
    if (Math.abs(clock.now() - knownAtMs) <= MAX_AGE_MS) return kept.current();
    return inTime(clock, REREAD_WAIT_MS, reading).then(kept.current);
  };
};

type WorkerDependencies = Pick<LedgerFunctionDependencies, 'maintenance' | 'reporting' | 'clockProblem'>;

/**
 * Whether background work must not run now (OPS-15). Reads the switch each time, and reports a paused worker. Throws
 * StoreError if the switch cannot be read: the work then waits for its next run.
 */
export const isPaused = async ({ maintenance, reporting }: WorkerDependencies, worker: string): Promise<boolean> => {
  if ((await maintenance.read()) !== 'paused') return false;
  reporting.notice('worker_paused', { worker });
  return true;
};

/**
 * Whether a worker must not judge stored times, because the clock of its process is too far from the store's (BILL-13).
 * Reports the problem. Call it after a call of the store, from whose reply the clock learns.
 */
export const isClockWrong = async (
  { clockProblem, reporting }: WorkerDependencies,
  worker: string,
): Promise<boolean> => {
  const problem = await clockProblem?.();
  if (problem === undefined) return false;
  reporting.notice('clock_skewed', { worker, problem });
  return true;
};
