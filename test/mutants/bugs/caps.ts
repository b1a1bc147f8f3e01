import { bugsIn } from './money-bug.ts';

const unit = 'test/lambdas/core/ledger/caps.test.ts';
const holds = 'test/lambdas/core/ledger/hold-caps.test.ts';
const text = 'test/lambdas/core/text/generate-text-caps.test.ts';
const contracts = 'test/contracts/ledger-caps.contract.test.ts';

const ruleBugs = bugsIn('lambdas/core/ledger/caps.ts', unit, [
  {
    id: 'cap-spent-again-by-a-late-clock',
    what: 'A process whose clock is late starts the day before again, with the whole limit.',
    find: "if (start === 'kept') return kept;",
    replace: "if (start === 'kept') return cap.limitPicos;",
  },
  {
    id: 'cap-of-a-day-ahead-not-carried',
    what: 'After a clock was ahead, the charges of that time count in no day that is near.',
    find: 'return cap.leftPicos === start.seenPicos ? start.leftPicos : undefined;',
    replace: 'return cap.limitPicos;',
  },
  {
    id: 'cap-edit-forgets-the-kept-days',
    what: 'After a cap was raised and lowered, a day to which the clock is set back has a wrong rest.',
    find: 'leftPicos, ...(kept && { kept }) });',
    replace: 'leftPicos });',
  },
  {
    id: 'cap-day-started-twice',
    what: 'Each process starts a new day with the whole limit, so concurrent processes spend it several times.',
    find: 'if (cap.period !== (ends ?? period)) return undefined;',
    replace: '',
    caughtBy: [unit, holds],
  },
  {
    id: 'cap-of-an-earlier-day-raised',
    what: 'A release of a hold of the day before raises the rest of the present day.',
    find: 'if (cap.period === holdCap.period) {',
    replace: "if (cap.period !== '') {",
  },
  {
    id: 'cap-edit-forgets-the-spend',
    what: 'Another limit of the same kind starts with its whole amount, whatever is spent.',
    find: 'const leftPicos = cap.leftPicos + raisedPicos;',
    replace: 'const leftPicos = change.limitPicos;',
  },
  {
    id: 'cap-epoch-reused',
    what: 'A cap that is set again has the period of the removed one, so holds of the removed one raise it.',
    find: 'period: periodOf(version, kind, nowMs) });',
    replace: 'period: periodOf(0, kind, nowMs) });',
  },
]);

const holdBugs = [
  ...bugsIn('lambdas/core/ledger/hold.ts', holds, [
    {
      id: 'cap-blamed-for-the-balance',
      what: 'A client without enough balance gets the error of its cap, and raises the cap without effect.',
      find: 'leftPicos < availablePicos && paysFor(account, order, refused) ? cap?.keyId : undefined',
      replace: 'cap?.keyId',
    },
    {
      id: 'smaller-hold-above-the-cap',
      what: 'The smaller hold uses the balance alone, so a request within its cap is rejected.',
      find: 'const usablePicos = leftPicos < availablePicos ? leftPicos : availablePicos;',
      replace: 'const usablePicos = availablePicos;',
    },
    {
      id: 'cap-lost-by-the-placed-hold',
      what: 'A placed hold does not name its cap, so the audit misses its charge and each charge takes two writes.',
      find: '      ...(cap && { cap }),\n    };\n  } finally',
      replace: '    };\n  } finally',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/close-hold.ts', 'test/lambdas/core/ledger/close-hold.test.ts', [
    {
      id: 'cap-not-restored',
      what: 'A closed hold changes no cap, so the unused part of each hold is lost until the reset.',
      find: 'closeInCap(account.caps, hold.cap, holdAmountPicos - record.amountPicos)',
      replace: 'closeInCap(account.caps, undefined, holdAmountPicos - record.amountPicos)',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/audit-caps.ts', 'test/lambdas/core/ledger/audit-caps.test.ts', [
    {
      id: 'audit-counts-open-charges-in-caps',
      what: 'The audit counts a charge in its cap while its hold is open, and reports a money error for it.',
      find: 'if (!holds.has(holdId)) add(cap, amountPicos);',
      replace: 'add(cap, amountPicos);',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/cap-status.ts', 'test/lambdas/core/ledger/cap-status.test.ts', [
    {
      id: 'open-holds-shown-as-spent',
      what: 'The amount that a key has spent includes its open holds, so it falls when they end.',
      find: 'const spentPicos = limitPicos - leftPicos - heldPicos;',
      replace: 'const spentPicos = limitPicos - leftPicos;',
    },
    {
      id: 'limit-below-the-use',
      what: 'A cap below what its key has spent and holds is accepted, so the rest falls below 0.',
      find: 'if (change.limitPicos >= usedPicos) return undefined;',
      replace: 'if (change.limitPicos >= 0n) return undefined;',
    },
  ]),
];

const wiringBugs = [
  ...bugsIn('lambdas/core/paid-call/with-paid-call.ts', text, [
    {
      id: 'cap-not-passed-to-the-hold',
      what: 'No paid request counts in the cap of its API key.',
      find: 'firstId, endId, storeTime, cap });',
      replace: 'firstId, endId, storeTime });',
    },
  ]),
  ...bugsIn('lambdas/core/paid-call/settle.ts', text, [
    {
      id: 'cap-missing-in-the-charge',
      what: 'A charge record does not name its cap, so the audit reports a money error for each capped charge.',
      find: '    ...(placedHold.cap && { cap: placedHold.cap }),\n',
      replace: '',
    },
  ]),
];

const videoBugs = [
  ...bugsIn('lambdas/core/videos/create-video.ts', 'test/lambdas/core/videos/create-video.test.ts', [
    {
      id: 'video-forgets-its-cap',
      what: 'A video does not keep the cap of its hold, so the audit reports a money error for its charge.',
      find: '    ...(cap && { cap }),\n',
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/core/videos/finish-video.ts', 'test/lambdas/core/videos/finish-video-end.test.ts', [
    {
      id: 'video-charge-without-its-cap',
      what: 'The charge of a video does not name its cap, so the audit reports a money error.',
      find: '    ...(cap && { cap }),\n',
      replace: '',
    },
  ]),
];

const storeBugs = [
  ...bugsIn('lambdas/stores/dynamodb/cap-items.ts', contracts, [
    {
      id: 'table-cap-not-checked',
      what: 'The table places holds beyond the cap of their API key.',
      find: ' AND caps.#cap.#left >= :amount',
      replace: '',
    },
    {
      id: 'table-new-period-without-a-condition',
      what: 'In the table, each concurrent first hold of a period starts it with the whole limit.',
      find: ' AND caps.#cap.#period = :ends',
      replace: ' AND :ends <> :period',
    },
    {
      id: 'table-cap-of-a-later-period-raised',
      what: 'A charge in the table changes the cap of the present period, whatever the period of its hold is.',
      find: "condition: ' AND caps.#cap.#period = :period',",
      replace: "condition: ' AND attribute_exists(caps.#cap.#period) AND :period <> :start',",
    },
    {
      id: 'table-kept-day-not-restored',
      what: 'In the table, the unused part of a hold that ends on a later day is lost for the day of the hold.',
      find: "set: ', caps.#cap.#kept = caps.#cap.#kept + :back',",
      replace: "set: ', caps.#cap.#kept = caps.#cap.#kept',",
    },
    {
      id: 'table-cap-removed-between',
      what: 'A hold that expects no cap is placed although the API key has one.',
      find: "condition: ' AND attribute_not_exists(caps.#cap)', names: { '#cap': keyId }",
      replace: "condition: '', names: {}",
    },
  ]),
  ...bugsIn('lambdas/stores/dynamodb/hold-entries.ts', 'test/lambdas/stores/dynamodb/hold-entries.test.ts', [
    {
      id: 'capped-map-readable-before-caps',
      what: 'A release without caps closes a hold with a cap after a rollback, and the cap stays lowered.',
      find: '? { key: holdId + CAPPED, value: { amount: amountPicos, until: expiresAtMs,',
      replace: '? { key: holdId + CAPPED, value: { amount: amountPicos, expiresAt: expiresAtMs,',
    },
  ]),
  ...bugsIn('local/stores/sqlite/cap-columns.ts', 'test/local/stores/sqlite/cap-columns.test.ts', [
    {
      id: 'sqlite-capped-hold-expires-before-caps',
      what: 'The sweeper of an embedded gateway without caps closes a hold with a cap, and the cap stays lowered.',
      find: '    cap ? NEVER_MS : expiresAtMs,',
      replace: '    expiresAtMs,',
    },
  ]),
];

const endedDayBugs = bugsIn('lambdas/stores/dynamodb/ledger-store.ts', contracts, [
  {
    id: 'holds-of-an-ended-day-exclude-each-other',
    what: 'After midnight, most charges of the day before fail at their account, and their holds stay until the sweeper comes.',
    find: 'if (ofOther) reply',
    replace: 'if (!ofOther && record.cap) reply',
  },
]);

export const capBugs = [...ruleBugs, ...holdBugs, ...wiringBugs, ...videoBugs, ...storeBugs, ...endedDayBugs];
