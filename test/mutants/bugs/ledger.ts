import { bugsIn, type MoneyBug } from './money-bug.ts';

const tests = 'test/lambdas/core/ledger';
const outboxTests = 'test/lambdas/core/text/generate-text-outbox.test.ts';

const holdBugs = bugsIn('lambdas/core/ledger/hold.ts', `${tests}/hold.test.ts`, [
  {
    id: 'hold-id-twice',
    what: 'Every try of a hold uses the first id.',
    find: 'holdId: holdIdOf(order.requestId, id), amountPicos',
    replace: 'holdId: holdIdOf(order.requestId, order.firstId ?? 0), amountPicos',
  },
  {
    id: 'hold-without-the-one-before',
    what: 'A further try of a hold does not require that the previous try placed none.',
    find: 'previousHoldId: previous?.holdId,',
    replace: 'previousHoldId: undefined,',
  },
  {
    id: 'hold-not-adopted',
    what: 'A request does not recognize its own hold after a lost reply.',
    find: 'const held = attempts.findLast(({ holdId }) => reply.account.holds.has(holdId));',
    replace: 'const held = attempts.find(() => false);',
  },
  {
    id: 'hold-given-up-left-open',
    what: 'An abandoned hold id is not closed, so a hold that is placed late can be settled.',
    find: 'attempts.filter((attempt) => attempt.uncertain)',
    replace: 'attempts.filter(() => false)',
  },
  {
    id: 'hold-adopted-and-closed',
    what: 'The hold that the request uses is closed as abandoned.',
    find: 'held.uncertain = false;',
    replace: '',
  },
  {
    id: 'hold-amount-of-another-try',
    what: 'An adopted hold counts with the amount of the first try.',
    find: 'amountPicos: held.amountPicos,',
    replace: 'amountPicos: order.amountPicos,',
  },
]);

const closeHoldBugs = bugsIn('lambdas/core/ledger/close-hold.ts', `${tests}/close-hold.test.ts`, [
  {
    id: 'newer-hold-closed-slowly',
    what: 'The slow write closes a hold of a newer release, whose cap it would not restore.',
    find: ' || hold.isNewer',
    replace: '',
  },
]);

const slowStoreTests = `${tests}/hold-slow-store.test.ts`;

const slowStoreBugs = [
  ...bugsIn('lambdas/core/ledger/hold.ts', slowStoreTests, [
    {
      id: 'given-up-hold-not-released',
      what: 'A given-up hold gets a record, but its money returns only when it expires.',
      find: 'if (!(await deps.store.apply(record, amountPicos, deps.clock.now()))) return false;',
      replace: 'if (record || amountPicos > 0n) return false;',
    },
    {
      id: 'late-hold-not-looked-for',
      what: 'A given-up hold that lands late stays open until it expires.',
      find: 'uncertain.filter(({ holdId }) => holds?.has(holdId))',
      replace: 'uncertain.filter(({ holdId }) => holds?.has(holdId) === undefined)',
    },
    {
      id: 'given-up-account-not-swept-soon',
      what: 'The sweeper looks for a late hold only when the hold expires.',
      find: 'deps.clock.now() + SWEEP_GIVEN_UP_MS',
      replace: 'order.expiresAtMs',
    },
    {
      id: 'given-up-hold-delays-the-sweep',
      what: 'A given-up hold delays the sweep of an account that was due earlier.',
      find: 'await deps.store.sweepBy(',
      replace: 'await deps.store.reschedule(',
    },
    {
      id: 'hold-writes-after-the-time',
      what: 'A request without store time sends further hold writes.',
      find: 'if (order.storeTime?.leftMs === 0) break;',
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/sweep.ts', slowStoreTests, [
    {
      id: 'recorded-hold-waits-for-its-expiry',
      what: 'The sweeper leaves a hold with a record open until it expires.',
      find: '(!hasExpired && isAhead(record.at + OWN_UPDATE_MS, now, OWN_UPDATE_MS + SKEW_MS_MAX))',
      replace: '!hasExpired',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/hold-breaker.ts', slowStoreTests, [
    {
      id: 'breaker-admits-everyone-to-probe',
      what: 'After its pause the breaker admits all requests to a store that may still be slow.',
      find: 'this.#openUntilMs = now + OPEN_MS;',
      replace: '',
    },
  ]),
];

const resolveBugs = bugsIn('lambdas/core/ledger/resolve.ts', `${tests}/resolve.test.ts`, [
  {
    id: 'commit-obeys-itself',
    what: 'The second writer of a record follows its own record instead of the existing one.',
    find: '? record : reply.record;',
    replace: '? record : record;',
  },
]);

const releaseBugs = bugsIn('lambdas/core/ledger/release.ts', `${tests}/resolve.test.ts`, [
  {
    id: 'release-over-a-charge',
    what: 'A release returns the whole hold although the record has a charge.',
    find: '(apply(deps, record, placedHold.amountPicos))',
    replace: '(apply(deps, { ...record, amountPicos: 0n }, placedHold.amountPicos))',
  },
  {
    id: 'release-never-applied',
    what: 'A release writes its record but does not release the money.',
    find: 'if (record) await answered<Account | undefined>(',
    replace: 'if (record && record.amountPicos < 0n) await answered<Account | undefined>(',
  },
]);

const foreignBugs = bugsIn('lambdas/core/ledger/release.ts', outboxTests, [
  {
    id: 'sweeper-passes-over-the-outbox',
    what: 'The sweeper releases an expired hold without reading the outbox.',
    find: 'const note = await deps.outbox.read(holdId);',
    replace: 'const note: { record: ChargeRecord } | undefined = undefined;',
  },
  {
    id: 'sweeper-takes-silence-for-no-note',
    what: 'An outbox that does not respond counts as empty.',
    find: 'await deps.outbox.read(holdId);',
    replace: 'await deps.outbox.read(holdId).catch(() => undefined);',
  },
]);

const sweepBugs = bugsIn('lambdas/core/ledger/sweep.ts', `${tests}/sweep.test.ts`, [
  {
    id: 'sweep-before-the-expiry',
    what: 'The sweeper ends holds of requests in progress.',
    find: 'expiresAtMs <= nowMs',
    replace: 'nowMs > 0',
  },
  {
    id: 'sweep-ends-its-own-requests',
    what: 'After a step of the clock, the sweeper releases the holds of requests that its process serves.',
    find: 'if (served?.has(holdId)) return false;',
    replace: '',
  },
  {
    id: 'sweep-drops-the-charge',
    what: 'The sweeper returns the whole hold although a charge is recorded.',
    find: 'await apply(deps, record, hold.amountPicos);',
    replace: 'await apply(deps, { ...record, amountPicos: 0n }, hold.amountPicos);',
  },
  {
    id: 'sweep-waits-for-the-farthest',
    what: 'A hold with a late expiry hides from the sweeper holds that are placed later and expire earlier.',
    find: 'Math.min(soonestMs, ...expiries)',
    replace: 'Math.min(...expiries)',
  },
  {
    id: 'sweep-list-never-left',
    what: 'An account without holds stays on the sweep list forever.',
    find: 'account.holds.size === 0 ? undefined : Math.min',
    replace: 'Math.min',
  },
  {
    id: 'sweep-ends-at-the-first-failure',
    what: 'One account that cannot be read stops the sweep of all others.',
    find: 'errors.push(error);',
    replace: 'throw error;',
  },
]);

const noteBugs = [
  ...bugsIn('lambdas/core/ledger/outbox.ts', outboxTests, [
    {
      id: 'note-in-the-last-minute',
      what: 'An outbox entry is written too late to precede the sweeper.',
      find: 'if (leftMs() < MARGIN_MS || clock.now()',
      replace: 'if (clock.now()',
    },
    {
      id: 'note-that-came-too-late-counts',
      what: 'An outbox entry whose reply came after the expiry counts as a charge.',
      find: 'return leftMs() >= MARGIN_MS - TAKEN_MS && clock.now() < takenOverAtMs();',
      replace: 'return clock.now() < takenOverAtMs();',
    },
    {
      id: 'note-after-the-lease',
      what: 'An outbox entry written after the lease counts as a charge, although another request may have taken over.',
      find: ' && clock.now() < takenOverAtMs()',
      replace: '',
      caughtBy: 'test/lambdas/core/idempotency/claimed-execution-lost-claims.test.ts',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/outbox.ts', outboxTests, [
    {
      id: 'note-removed-first',
      what: 'An outbox entry is removed before its charge is recorded.',
      find: 'const record = await commit(deps, note.record);',
      replace: 'await deps.outbox.remove(holdId);\n  const record = await commit(deps, note.record);',
    },
    {
      id: 'notes-end-at-the-first-failure',
      what: 'An outbox entry that cannot be read blocks all later ones forever.',
      find: 'if (!(error instanceof StoreError)) bugs.push(error);',
      replace: 'throw error;',
    },
    {
      id: 'note-over-a-release',
      what: 'An outbox entry is charged although its hold was released first.',
      find: 'await apply(deps, record, note.holdAmountPicos);',
      replace: 'await apply(deps, note.record, note.holdAmountPicos);',
    },
  ]),
];

export const ledgerBugs: readonly MoneyBug[] = [
  ...holdBugs,
  ...closeHoldBugs,
  ...slowStoreBugs,
  ...resolveBugs,
  ...releaseBugs,
  ...foreignBugs,
  ...sweepBugs,
  ...noteBugs,
];
