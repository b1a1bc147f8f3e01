import { bugsIn, type MoneyBug } from './money-bug.ts';

export const restoreBugs: readonly MoneyBug[] = [
  ...bugsIn('lambdas/core/ledger/replay.ts', 'test/lambdas/core/ledger/replay.test.ts', [
    {
      id: 'replay-without-a-hold',
      what: 'After a restore, a charge without a hold is put into the outbox, and its account is never charged.',
      find: "account?.holds.get(holdId)?.amountPicos === entry.holdAmountPicos ? 'replayed' : 'lost'",
      replace: "account ? 'replayed' : 'lost'",
    },
    {
      id: 'replay-of-a-recorded-charge',
      what: 'After a restore, a charge that the table has is put into the outbox again.',
      find: "return 'recorded';",
      replace: "return 'replayed';",
    },
    {
      id: 'lost-entry-left-waiting',
      what: 'After a restore, the worker records a charge without a hold, which the audit reports.',
      find: "if (outcome === 'lost' && isWaiting)",
      replace: "if (outcome === 'lost' && !isWaiting)",
    },
    {
      id: 'replay-in-a-dry-run',
      what: 'A dry run of a replay changes the outbox.',
      find: 'if (!isDryRun) {',
      replace: 'if (true) {',
    },
  ]),
  ...bugsIn('lambdas/stores/s3/outbox-history.ts', 'test/lambdas/stores/s3/outbox-history.test.ts', [
    {
      id: 'history-of-the-oldest-version',
      what: 'A replay uses an older version of an outbox entry.',
      find: 'if (newest.has(key)) continue;',
      replace: '',
    },
    {
      id: 'history-before-the-time-only',
      what: 'A replay leaves out the charges that the restore has undone.',
      find: 'removedAtMs < atMs',
      replace: 'removedAtMs >= atMs',
    },
  ]),
  ...bugsIn('lambdas/functions/wiring/maintenance.ts', 'test/lambdas/functions/wiring/maintenance.test.ts', [
    {
      id: 'paused-workers-run',
      what: 'The sweeper releases holds while an operator restores the table.',
      find: "!== 'paused') return false;",
      replace: "!== 'on') return false;",
    },
    {
      id: 'old-maintenance-state-used',
      what: 'A process that was frozen accepts a paid request during a restore.',
      find: 'Math.abs(clock.now() - knownAtMs) <= MAX_AGE_MS',
      replace: 'clock.now() - knownAtMs <= Number.MAX_VALUE',
    },
  ]),
  ...bugsIn('lambdas/http/handler.ts', 'test/lambdas/http/handler.test.ts', [
    {
      id: 'paid-requests-in-maintenance',
      what: 'Paid requests are accepted during a restore, and their charges are lost.',
      find: 'if (!route?.billed && !route?.writes) return undefined;',
      replace: 'if (!route?.writes) return undefined;',
    },
    {
      id: 'credits-in-maintenance',
      what: 'Payments are accepted during a restore, and are lost.',
      find: 'if (!route?.billed && !route?.writes) return undefined;',
      replace: 'if (!route?.billed) return undefined;',
    },
  ]),
];
