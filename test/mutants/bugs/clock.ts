import { bugsIn, type MoneyBug } from './money-bug.ts';

export const clockBugs: readonly MoneyBug[] = [
  ...bugsIn('lambdas/core/ledger/sweep.ts', 'test/lambdas/core/ledger/sweep.test.ts', [
    {
      id: 'sweep-of-a-clock-ahead-waits',
      what: 'An account whose sweep was set by a clock ahead keeps its holds for as long as the clock was ahead.',
      find: 'deps.store.due(dueMs, dueMs + deps.shortestLifetimeMs + SKEW_MS_MAX)',
      replace: 'deps.store.due(dueMs)',
    },
    {
      id: 'hold-of-a-clock-ahead-stays',
      what: 'A hold that a clock ahead has placed is held for as long as the clock was ahead.',
      find: 'return isOfClockAhead &&',
      replace: 'return !isOfClockAhead &&',
    },
    {
      id: 'live-hold-of-a-clock-ahead-ended',
      what: 'The sweeper ends the live holds of other processes that they placed before the clock was set back.',
      find: 'served?.hasOutlived(holdId, expiresAtMs - placedAtMs)',
      replace: 'served?.hasOutlived(holdId, 0)',
    },
  ]),
  ...bugsIn('lambdas/core/store-clock.ts', 'test/lambdas/core/store-clock.test.ts', [
    {
      id: 'store-clock-ignored',
      what: 'A process stores times by its own clock, however far it is from the clock of the store.',
      find: 'now: () => own.now() - skewMs,',
      replace: 'now: () => own.now(),',
    },
    {
      id: 'reply-of-a-suspended-process-counts',
      what: 'A process that was suspended during a call takes the old date of the reply for the present time.',
      find: ' || !isSteady) return;',
      replace: ') return;',
    },
  ]),
  ...bugsIn('lambdas/functions/wiring/sweep-handler.ts', 'test/lambdas/functions/wiring/sweep-handler.test.ts', [
    {
      id: 'sweep-with-a-wrong-clock',
      what: 'A process whose clock is far from that of the store releases the live holds of all others.',
      find: " || (await isClockWrong(deps, 'sweep'))",
      replace: '',
    },
  ]),
  ...bugsIn('local/stores/sqlite/heartbeats.ts', 'test/local/stores/sqlite/heartbeats.test.ts', [
    {
      id: 'step-of-all-clocks-ends-live-holds',
      what: 'After the clock of a machine steps forward, each gateway on it releases the live holds of the others.',
      find: 'this.#steppedAtMs = monotonic;',
      replace: 'this.#steppedAtMs = Number.NEGATIVE_INFINITY;',
    },
    {
      id: 'later-clock-wins',
      what: 'The later clock of two gateways counts, which ends the live holds of the other.',
      find: '(clocks.length - 1) / 2',
      replace: 'clocks.length / 2',
    },
  ]),
];
