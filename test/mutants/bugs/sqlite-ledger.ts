import { bugsIn, type MoneyBug } from './money-bug.ts';

const contracts = 'test/contracts';
const holdTests = `${contracts}/ledger-holds.contract.test.ts`;
const ledgerTests = `${contracts}/ledger-store.contract.test.ts`;
const limitTests = 'test/local/stores/sqlite/ledger-store-limits.test.ts';
const durabilityTests = 'test/local/stores/sqlite/database-durability.test.ts';
const changeTests = 'test/local/stores/sqlite/changes-shared.test.ts';

const ledgerBugs = bugsIn('local/stores/sqlite/ledger-store.ts', ledgerTests, [
  {
    id: 'sqlite-hold-without-money',
    what: 'The embedded ledger places a hold without checking the available balance.',
    find: '  account.availablePicos >= amountPicos &&\n',
    replace: '',
    caughtBy: holdTests,
  },
  {
    id: 'sqlite-hold-below-zero',
    what: 'The embedded ledger places free holds on an account that has spent its credit.',
    find: '  account.creditedPicos > account.spentPicos &&\n',
    replace: '',
    caughtBy: holdTests,
  },
  {
    id: 'sqlite-hold-of-the-blocked',
    what: 'The embedded ledger places holds on a blocked account.',
    find: "  account.status === 'active' &&\n",
    replace: '',
    caughtBy: holdTests,
  },
  {
    id: 'sqlite-hold-beside-the-one-before',
    what: 'The embedded ledger places a further hold of a request while the previous one is open.',
    find: '(previousHoldId === undefined || !account.holds.has(previousHoldId))',
    replace: "previousHoldId !== ''",
    caughtBy: holdTests,
  },
  {
    id: 'sqlite-hold-number-201',
    what: 'The embedded ledger lets an account have one open hold too many.',
    find: 'account.holds.size < HOLDS_MAX',
    replace: 'account.holds.size <= HOLDS_MAX',
    caughtBy: holdTests,
  },
  {
    id: 'sqlite-hold-on-a-failing-disk',
    what: 'While the disk confirms no write, every request reaches a provider and then fails with 503.',
    find: '      await db.checkDisk();\n',
    replace: '',
    caughtBy: 'test/local/stores/sqlite/database-unknown-outcome.test.ts',
  },
  {
    id: 'sqlite-record-that-cannot-be-applied',
    what: 'A charge that does not fit into the account is recorded, and its hold never ends.',
    find: "account ? bigintOf(account, 'spent') : 0n",
    replace: '0n',
    caughtBy: 'test/local/stores/sqlite/ledger-store-limits.test.ts',
  },
  {
    id: 'sqlite-hold-on-a-full-disk',
    what: 'The embedded ledger places holds while the disk has no space for their charges.',
    find: '      options.checkRoom?.();\n',
    replace: '',
    caughtBy: limitTests,
  },
  {
    id: 'sqlite-sweep-put-off-by-every-hold',
    what: 'Every hold in the embedded ledger delays the next sweep, so a busy account is never swept.',
    find: 'coalesce(sweep_at, ?)',
    replace: 'coalesce(?, sweep_at)',
  },
  {
    id: 'sqlite-sweep-before-the-time',
    what: 'The embedded ledger reports every account with a hold as due, so its holds are swept on every run.',
    find: 'WHERE sweep_at <= ? OR sweep_at > ?',
    replace: 'WHERE sweep_at <= ? OR sweep_at > ? OR sweep_at IS NOT NULL',
  },
  {
    id: 'sqlite-sweep-list-left-too-early',
    what: 'The embedded ledger removes an account with an open hold from the sweep list, and the hold stays forever.',
    find: ' AND NOT EXISTS (SELECT 1 FROM holds WHERE account_id = accounts.id)',
    replace: '',
  },
  {
    id: 'sqlite-sweep-postponed-by-another',
    what: 'A slow sweep replaces the earlier time that another write has set in the embedded ledger.',
    find: 'sweep_at <= ? OR sweep_at >= ?',
    replace: 'sweep_at <> ? OR sweep_at >= ?',
  },
  {
    id: 'sqlite-sweep-moved-later',
    what: 'A given-up hold delays the sweep of its account in the embedded ledger.',
    find: 'sweep_at IS NULL OR sweep_at > ?',
    replace: 'sweep_at IS NULL OR sweep_at <> ?',
  },
  {
    id: 'sqlite-record-written-over',
    what: 'A later release replaces the charge record in the embedded ledger.',
    find: 'VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    replace:
      'VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET outcome = excluded.outcome, amount = excluded.amount',
  },
  {
    id: 'sqlite-late-record-shown-its-own',
    what: 'The embedded ledger returns the later record to its writer, which then applies it over the first one.',
    find: "return { kind: 'exists', record: present };",
    replace: "return { kind: 'exists', record };",
  },
  {
    id: 'sqlite-money-moved-twice',
    what: 'The embedded ledger keeps an applied hold, so a repeated apply moves the money again.',
    find: '  deleteHold(db, accountId, holdId, hold);\n',
    replace: '',
  },
  {
    id: 'sqlite-money-moved-without-a-hold',
    what: 'The embedded ledger applies a record whose hold is already closed.',
    find: 'const after = before && closeHold(before, record, holdAmountPicos, nowMs);',
    replace:
      'const open = new Map(before?.holds).set(holdId, { amountPicos: holdAmountPicos, expiresAtMs: 0 });\n' +
      '  const after = before && closeHold({ ...before, holds: open }, record, holdAmountPicos, nowMs);',
  },
  {
    id: 'sqlite-money-moved-by-another-amount',
    what: 'The embedded ledger releases the amount that the caller names, not the amount of the hold.',
    find: 'const after = before && closeHold(before, record, holdAmountPicos, nowMs);',
    replace:
      'const amount = before?.holds.get(holdId)?.amountPicos ?? holdAmountPicos;\n' +
      '  const after = before && closeHold(before, record, amount, nowMs);',
  },
  {
    id: 'sqlite-charge-given-back',
    what: 'The embedded ledger both spends a charge and returns it with the rest of the hold.',
    find: '  replaceAccount(db, before, after, nowMs);\n  noteLowBalance',
    replace:
      '  replaceAccount(db, before, { ...after, availablePicos: after.availablePicos + amountPicos }, nowMs);\n  noteLowBalance',
  },
  {
    id: 'sqlite-spent-is-the-last-charge',
    what: 'The embedded ledger forgets earlier charges when it applies a later one.',
    find: '  replaceAccount(db, before, after, nowMs);\n  noteLowBalance',
    replace: '  replaceAccount(db, before, { ...after, spentPicos: amountPicos }, nowMs);\n  noteLowBalance',
    caughtBy: [limitTests, `${contracts}/ledger-histories.contract.test.ts`],
  },
  {
    id: 'sqlite-charges-overflow',
    what: 'The embedded ledger accepts a charge that brings the sum above the largest integer of SQLite.',
    find: 'checkCharge(before.spentPicos, amountPicos);',
    replace: 'checkCharge(0n, amountPicos);',
    caughtBy: limitTests,
  },
  {
    id: 'sqlite-record-not-durable',
    what: 'A power cut loses the charge of a response that the client has received.',
    find: 'putRecord: (record) => db.writeDurably(',
    replace: 'putRecord: (record) => db.write(',
    caughtBy: durabilityTests,
  },
  {
    id: 'sqlite-credit-not-durable',
    what: 'A power cut loses a payment that the gateway has confirmed.',
    find: 'await db.writeDurably(() => credit(db, request))',
    replace: 'await db.write(() => credit(db, request))',
    caughtBy: durabilityTests,
  },
  {
    id: 'sqlite-record-read-before-its-sync',
    what: 'A client sees an ended request whose record a power cut can still undo.',
    find: 'readRecord: (accountId, holdId) => db.read(',
    replace: 'readRecord: (accountId, holdId) => db.peek(',
    caughtBy: durabilityTests,
  },
  {
    id: 'sqlite-crossing-not-noted',
    what: 'The embedded ledger applies a charge without recording the low balance, and the user gets no notification.',
    find: '  noteLowBalance(db, before, after);\n',
    replace: '',
    caughtBy: changeTests,
  },
]);

const recordBugs = bugsIn('local/stores/sqlite/ledger-records.ts', `${contracts}/ledger-records.contract.test.ts`, [
  {
    id: 'sqlite-records-of-a-longer-id',
    what: 'The records of a request include those of requests whose id starts with the same characters.',
    find: '}/`)',
    replace: '}~`)',
  },
  {
    id: 'sqlite-record-page-is-the-last',
    what: 'The list of charges ends after its first page, so the audit and the user miss the rest.',
    find: 'beforeHoldId, limit + 1)',
    replace: 'beforeHoldId, limit)',
  },
]);

const accountTests = `${contracts}/account-store.contract.test.ts`;
const accountKeyTests = `${contracts}/account-keys.contract.test.ts`;
const accountBugs = bugsIn('local/stores/sqlite/account-store.ts', accountKeyTests, [
  {
    id: 'sqlite-start-credit-without-a-record',
    what: 'The first credit of an account has no record in SQLite, and can be granted again.',
    find: 'if (creditPicos !== 0n)',
    replace: 'if (creditPicos < 0n)',
    caughtBy: accountTests,
  },
  {
    id: 'sqlite-account-not-durable',
    what: 'A power cut loses an account whose key the user has received.',
    find: 'await db.writeDurably(() => open(db, account))',
    replace: 'await db.write(() => open(db, account))',
    caughtBy: durabilityTests,
  },
]);

const keyChangeBugs = bugsIn('local/stores/sqlite/key-store.ts', accountKeyTests, [
  {
    id: 'sqlite-replaced-key-still-valid',
    what: 'SQLite keeps a replaced API key valid besides the new one.',
    find: '  revoke(db, oldHash);\n',
    replace: '',
  },
  {
    id: 'sqlite-revoked-key-still-valid',
    what: 'SQLite shows an API key as revoked to the operator but keeps it valid.',
    find: '  revoke(db, hash);\n',
    replace: '',
  },
  {
    id: 'sqlite-two-replacements',
    what: 'Two concurrent replacements in SQLite create two valid API keys.',
    find: 'readCurrentKey(db, accountId)?.hash !== oldHash || ',
    replace: '',
  },
  {
    id: 'sqlite-key-for-the-blocked',
    what: 'A blocked account gets a new valid API key from SQLite.',
    find: "  if (!isActive(db, accountId)) return 'blocked';\n",
    replace: '',
  },
]);

const keyBugs = bugsIn('local/stores/sqlite/key-store.ts', `${contracts}/limit-stores.contract.test.ts`, [
  {
    id: 'sqlite-revoked-key-admitted',
    what: 'The embedded key store admits a revoked API key.',
    find: "if (key.status !== 'active') return",
    replace: "if (key.status === 'unknown') return",
  },
  {
    id: 'sqlite-rate-not-kept',
    what: 'The embedded key store counts no requests, so an API key has no rate limit.',
    find: "  if (tatMicros !== key.tatMicros) db.sql('UPDATE keys SET tat = ? WHERE hash = ?').run(tatMicros, hash);\n",
    replace: '',
  },
  {
    id: 'sqlite-address-counter-pruned-live',
    what: 'The gateway removes the counter of a client IP while it limits, and the limit restarts.',
    find: 'Math.ceil(nowMicros / 1_000) + BUCKET_KEPT_MS',
    replace: 'Math.ceil(nowMicros / 1_000)',
    caughtBy: 'test/local/stores/sqlite/prune.test.ts',
  },
]);

const changeBugs = bugsIn('local/stores/sqlite/changes.ts', changeTests, [
  {
    id: 'followed-change-again',
    what: 'The gateway publishes its own account writes a second time, as those of another process.',
    find: 'before?.version === after.version || (!before && after.version > 1)',
    replace: '!before && after.version > 1',
  },
  {
    id: 'followed-by-one-look',
    what: 'The gateway misses writes of another process to more than 1,000 accounts at a time.',
    find: ' && !isBehind',
    replace: '',
  },
  {
    id: 'followed-from-the-start',
    what: 'The gateway reads the first 1,000 changed accounts repeatedly and misses all later ones.',
    find: "    if (last) seenChange = bigintOf(last, 'change');\n",
    replace: '',
  },
  {
    id: 'followed-end-without-its-record',
    what: 'The gateway publishes a hold that another process charged as released without a charge.',
    find: 'filter((holdId) => !after.holds.has(holdId))',
    replace: 'filter((holdId) => after.holds.has(holdId))',
  },
  {
    id: 'low-balance-sent-by-two',
    what: 'Two processes send the same low-balance notification.',
    find: '.get(nowMs, nowMs + LEASE_MS)',
    replace: '.get(nowMs, nowMs)',
  },
  {
    id: 'low-balance-lost-after-a-failure',
    what: 'A low-balance notification that failed once is never sent.',
    find: "if (outcome.kind !== 'failed' || attempts >= ATTEMPTS_MAX)",
    replace: "if (outcome.kind !== 'failed' || attempts > 0)",
    caughtBy: 'test/local/stores/sqlite/changes.test.ts',
  },
]);

const pruneBugs = bugsIn('local/stores/sqlite/prune.ts', 'test/local/stores/sqlite/prune.test.ts', [
  {
    id: 'claim-pruned-in-its-lease',
    what: 'The gateway removes the claim of a request in progress, and a repeat of the request is charged again.',
    find: "'expires_at <= ?1 AND lease_until <= ?1'",
    replace: "'expires_at <= ?1'",
  },
  {
    id: 'claim-pruned-at-its-expiry',
    what: 'The gateway removes a claim that a request with a slower clock would still replay.',
    find: 'keptMs: 3_600_000,',
    replace: 'keptMs: 0,',
  },
  {
    id: 'live-quarantine-pruned',
    what: 'The gateway lifts a quarantine before its time.',
    find: "isExpired: 'shut_until <= ?1'",
    replace: "isExpired: 'shut_until >= ?1'",
  },
]);

export const sqliteLedgerBugs: readonly MoneyBug[] = [
  ...ledgerBugs,
  ...recordBugs,
  ...accountBugs,
  ...keyChangeBugs,
  ...keyBugs,
  ...changeBugs,
  ...pruneBugs,
];
