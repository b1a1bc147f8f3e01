import { bugsIn, type MoneyBug } from './money-bug.ts';

const tests = 'test/lambdas/core/ledger';
const outboxTests = 'test/lambdas/core/text/generate-text-outbox.test.ts';

const holdBugs = bugsIn('lambdas/core/ledger/hold.ts', `${tests}/hold.test.ts`, [
  {
    id: 'hold-id-twice',
    what: 'Every try of a hold goes out under the first id.',
    find: 'holdId: holdIdOf(order.requestId, id), amountPicos',
    replace: 'holdId: holdIdOf(order.requestId, order.firstId ?? 0), amountPicos',
  },
  {
    id: 'hold-without-the-one-before',
    what: 'A further try does not ask that the try before it holds nothing.',
    find: 'previousHoldId: previous?.holdId,',
    replace: 'previousHoldId: undefined,',
  },
  {
    id: 'hold-not-adopted',
    what: 'A hold whose reply was lost is not recognised as the own one.',
    find: 'return attempts.findLast(({ holdId }) => reply.account.holds.has(holdId));',
    replace: 'return undefined;',
  },
  {
    id: 'hold-given-up-left-open',
    what: 'An id that was given up is not closed, so that a hold that lands late can be settled.',
    find: 'attempts.filter((attempt) => attempt.uncertain)',
    replace: 'attempts.filter(() => false)',
  },
  {
    id: 'hold-adopted-and-closed',
    what: 'The hold that the request goes on with is closed as given up.',
    find: 'held.uncertain = false;',
    replace: '',
  },
  {
    id: 'hold-amount-of-another-try',
    what: 'An adopted hold is taken for one of the amount first asked for.',
    find: 'amountPicos: held.amountPicos,',
    replace: 'amountPicos: order.amountPicos,',
  },
]);

const resolveBugs = bugsIn('lambdas/core/ledger/resolve.ts', `${tests}/resolve.test.ts`, [
  {
    id: 'commit-obeys-itself',
    what: 'Whoever comes second with a record goes by its own record.',
    find: '? record : reply.record;',
    replace: '? record : record;',
  },
]);

const releaseBugs = bugsIn('lambdas/core/ledger/release.ts', `${tests}/resolve.test.ts`, [
  {
    id: 'release-over-a-charge',
    what: 'A release gives the whole hold back although the record says that it was charged.',
    find: '(apply(deps, record, placedHold.amountPicos))',
    replace: '(apply(deps, { ...record, amountPicos: 0n }, placedHold.amountPicos))',
  },
  {
    id: 'release-never-applied',
    what: 'A release writes its record and leaves the money held.',
    find: 'if (record) await answered<Account | undefined>(',
    replace: 'if (record && record.amountPicos < 0n) await answered<Account | undefined>(',
  },
]);

const foreignBugs = bugsIn('lambdas/core/ledger/release.ts', outboxTests, [
  {
    id: 'sweeper-passes-over-the-outbox',
    what: 'The sweeper releases an expired hold without looking for a note.',
    find: 'const note = await deps.outbox.read(holdId);',
    replace: 'const note: { record: ChargeRecord } | undefined = undefined;',
  },
  {
    id: 'sweeper-takes-silence-for-no-note',
    what: 'An outbox that does not answer is taken for an empty one.',
    find: 'await deps.outbox.read(holdId);',
    replace: 'await deps.outbox.read(holdId).catch(() => undefined);',
  },
]);

const sweepBugs = bugsIn('lambdas/core/ledger/sweep.ts', `${tests}/sweep.test.ts`, [
  {
    id: 'sweep-before-the-expiry',
    what: 'The sweeper ends holds of requests that are still at work.',
    find: 'if (hold.expiresAtMs <= now)',
    replace: 'if (now > 0)',
  },
  {
    id: 'sweep-drops-the-charge',
    what: 'The sweeper gives the whole hold back where a charge was recorded.',
    find: 'await apply(deps, record, hold.amountPicos);',
    replace: 'await apply(deps, { ...record, amountPicos: 0n }, hold.amountPicos);',
  },
  {
    id: 'sweep-waits-for-the-farthest',
    what: 'A hold with a far expiry keeps the sweeper from those placed after it.',
    find: 'Math.min(soonestMs, ...expiries)',
    replace: 'Math.min(...expiries)',
  },
  {
    id: 'sweep-list-never-left',
    what: 'An account without holds stays on the sweep list for ever.',
    find: 'expiries.length === 0 ? undefined : Math.min',
    replace: 'Math.min',
  },
  {
    id: 'sweep-ends-at-the-first-failure',
    what: 'One account that cannot be read keeps the sweeper from all others.',
    find: 'errors.push(error);',
    replace: 'throw error;',
  },
]);

const noteBugs = [
  ...bugsIn('lambdas/core/ledger/outbox.ts', outboxTests, [
    {
      id: 'note-in-the-last-minute',
      what: 'A note is left when the sweeper may come before it.',
      find: 'if (leftMs() < MARGIN_MS || clock.now()',
      replace: 'if (clock.now()',
    },
    {
      id: 'note-that-came-too-late-counts',
      what: 'A note whose reply came after the expiry is taken for a charge.',
      find: 'return leftMs() >= MARGIN_MS - TAKEN_MS && clock.now() < takenOverAtMs();',
      replace: 'return clock.now() < takenOverAtMs();',
    },
    {
      id: 'note-after-the-lease',
      what: 'A note that came after the lease is taken for a charge, though another request may have taken over.',
      find: ' && clock.now() < takenOverAtMs()',
      replace: '',
      caughtBy: 'test/lambdas/core/idempotency/claimed-execution-lost-claims.test.ts',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/outbox.ts', outboxTests, [
    {
      id: 'note-removed-first',
      what: 'A note is removed before its charge is recorded.',
      find: 'const record = await commit(deps, note.record);',
      replace: 'await deps.outbox.remove(holdId);\n  const record = await commit(deps, note.record);',
    },
    {
      id: 'notes-end-at-the-first-failure',
      what: 'A note that cannot be read keeps all behind it waiting for ever.',
      find: 'if (!(error instanceof StoreError)) bugs.push(error);',
      replace: 'throw error;',
    },
    {
      id: 'note-over-a-release',
      what: 'A note is charged although its hold was released first.',
      find: 'await apply(deps, record, note.holdAmountPicos);',
      replace: 'await apply(deps, note.record, note.holdAmountPicos);',
    },
  ]),
];

export const ledgerBugs: readonly MoneyBug[] = [
  ...holdBugs,
  ...resolveBugs,
  ...releaseBugs,
  ...foreignBugs,
  ...sweepBugs,
  ...noteBugs,
];
