import { bugsIn, type MoneyBug } from './money-bug.ts';

const contracts = 'test/contracts';
const durabilityTests = 'test/local/stores/sqlite/database-durability.test.ts';

const claimBugs = bugsIn('local/stores/sqlite/claim-store.ts', `${contracts}/claim-store.contract.test.ts`, [
  {
    id: 'sqlite-take-over-within-the-lease',
    what: 'SQLite lets a request take over a claim with a valid lease, and both call the provider.',
    find: 'if (!isAtWork || present.leaseUntilMs > request.nowMs)',
    replace: 'if (!isAtWork)',
  },
  {
    id: 'sqlite-take-over-not-counted',
    what: 'SQLite does not count a takeover as a dispatch, so one idempotency key can call the provider without limit.',
    find: 'const dispatches = present.dispatches + 1;',
    replace: 'const dispatches = present.dispatches;',
  },
  {
    id: 'sqlite-claim-written-by-any-owner',
    what: 'A request that lost its claim in SQLite can still write it.',
    find: "'account_id = ? AND key_hash = ? AND owner = ?'",
    replace: "'account_id = ? AND key_hash = ? AND (owner = ? OR owner IS NOT NULL)'",
  },
  {
    id: 'sqlite-result-written-over',
    what: 'SQLite replaces the stored response of a completed claim, which then differs from the charged one.',
    find: "} AND state IN ('open', 'prepared')`",
    replace: '} AND state IS NOT NULL`',
  },
  {
    id: 'sqlite-completed-without-a-response',
    what: 'SQLite completes a claim without a response, and every repeat of the request fails.',
    find: "} AND state IN ('prepared', 'done')`",
    replace: '}`',
  },
  {
    id: 'sqlite-lease-shortened',
    what: 'A renewal that arrives late shortens the lease in SQLite.',
    find: 'max(lease_until, ?)',
    replace: '?',
  },
  {
    id: 'sqlite-expired-claim-of-a-running-request',
    what: 'SQLite reopens an expired claim while its request is in progress.',
    find: '(present.expiresAtMs <= request.nowMs && present.leaseUntilMs <= request.nowMs)',
    replace: 'present.expiresAtMs <= request.nowMs',
  },
  {
    id: 'sqlite-key-of-another-request',
    what: 'SQLite assigns a freed claim to a request with another body.',
    find: ' && present.fingerprint === fingerprint',
    replace: '',
  },
  {
    id: 'sqlite-dispatches-without-a-bound',
    what: 'SQLite lets a failing request with one idempotency key call the provider without limit.',
    find: ' && present.dispatches < dispatchesMax',
    replace: '',
  },
  {
    id: 'sqlite-response-not-durable',
    what: 'A power cut loses the response of a charged request, and its repeat is charged again.',
    find: 'return db.writeDurably(() => change(ref, owner, sql, toJson(prepared), expiresAtMs));',
    replace: 'return db.write(() => change(ref, owner, sql, toJson(prepared), expiresAtMs));',
    caughtBy: durabilityTests,
  },
]);

const circuitBugs = bugsIn('local/stores/sqlite/circuit-store.ts', `${contracts}/circuit-store.contract.test.ts`, [
  {
    id: 'sqlite-circuit-judged-by-any-owner',
    what: 'A request that lost its probe can still close the circuit in SQLite.',
    find: "'provider_id = ? AND model_id = ? AND probe_owner = ?'",
    replace: "'provider_id = ? AND model_id = ? AND (probe_owner = ? OR probe_owner IS NOT NULL)'",
  },
  {
    id: 'sqlite-two-probes',
    what: 'SQLite lets every request probe a half-open circuit.',
    find: ' && (!state.probe || state.probe.leaseUntilMs <= nowMs)',
    replace: '',
  },
  {
    id: 'sqlite-failures-of-the-last-caller',
    what: 'SQLite keeps only the last count of failures, so a circuit never opens.',
    find: 'before.failures + added.failures',
    replace: 'added.failures',
  },
  {
    id: 'sqlite-quarantine-extended',
    what: 'Each request without usage extends the quarantine of its model in SQLite.',
    find: '        if (shutUntil(db, modelId) > nowMs) return false;\n',
    replace: '',
  },
  {
    id: 'sqlite-missing-usage-counted-once',
    what: 'SQLite counts only one response without usage, so the model stays in use.',
    find: 'sumOfMissing([missingOf(db, modelId, startMs), { count: 1, accounts: [account] }])',
    replace: '{ count: 1, accounts: [account] }',
  },
]);

const jobTests = `${contracts}/video-job-store.contract.test.ts`;
const listTests = `${contracts}/video-job-lists.contract.test.ts`;
const videoBugs = bugsIn('local/stores/sqlite/video-job-store.ts', jobTests, [
  {
    id: 'sqlite-video-loses-fields',
    what: 'SQLite drops fields that a newer release stored with a video.',
    find: "{ ...JSON.parse(textOf(row, 'job')), ...changes }",
    replace: '{ ...job, ...changes }',
    caughtBy: 'test/local/stores/sqlite/video-job-store.test.ts',
  },
  {
    id: 'sqlite-video-ended-twice',
    what: 'SQLite completes a video that failed without a charge.',
    find: '(isEnded(job) ? job.state === ending.state : ending)',
    replace: '(job.id === undefined || ending)',
  },
  {
    id: 'sqlite-begun-video-refused',
    what: 'SQLite refuses a video that the provider creates and charges.',
    find: "hasNotBegun(job) ? { state: 'failed'",
    replace: "!isEnded(job) ? { state: 'failed'",
  },
  {
    id: 'sqlite-second-video-file',
    what: 'SQLite replaces the file of a video and its charged tokens.',
    find: 'isEnded(job) || job.file ?',
    replace: 'isEnded(job) ?',
  },
  {
    id: 'sqlite-abandoned-video-created',
    what: 'SQLite creates a video although its request already returned that there is none.',
    find: "    db.sql('INSERT INTO videos (id, listed) VALUES (?, 0)').run(id);\n",
    replace: '',
  },
  {
    id: 'sqlite-ended-video-due',
    what: 'SQLite reports an ended video as due, and the sweeper resumes it on every run.',
    find: "'UPDATE videos SET job = ?, listed = ?, due_at = NULL WHERE id = ?'",
    replace: "'UPDATE videos SET job = ?, listed = ? WHERE id = ?'",
    caughtBy: listTests,
  },
  {
    id: 'sqlite-due-video-hidden',
    what: 'SQLite does not report a video when it is due, so nothing ends it or releases its hold.',
    find: 'WHERE due_at <= ?',
    replace: 'WHERE due_at < ?',
    caughtBy: listTests,
  },
  {
    id: 'sqlite-videos-of-all-accounts',
    what: 'The list of videos includes those of other accounts.',
    find: 'listed = 1 AND account_id = ?',
    replace: 'listed = 1 AND (account_id = ? OR account_id IS NOT NULL)',
    caughtBy: listTests,
  },
]);

const updateBugs = bugsIn('local/stores/sqlite/update-log.ts', `${contracts}/update-log.contract.test.ts`, [
  {
    id: 'sqlite-finished-update-freed',
    what: 'A late failure frees a bot update that another process has finished, and its key is replaced again.',
    find: ' AND done = 0',
    replace: '',
  },
]);

const operationBugs = bugsIn(
  'local/stores/sqlite/ledger-records.ts',
  `${contracts}/operation-log.contract.test.ts`,
  [],
);

export const sqliteRequestBugs: readonly MoneyBug[] = [
  ...claimBugs,
  ...circuitBugs,
  ...videoBugs,
  ...updateBugs,
  ...operationBugs,
];
