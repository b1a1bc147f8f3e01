interface Edit {
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** One clause of the protocols, and how the code reads without it. */
export interface Clause extends Edit {
  readonly id: string;
  readonly clause: string;
  /** Where else the same clause is kept. */
  readonly also?: Edit;
  /** Where its absence shows. */
  readonly configuration: string;
  /** Why nothing goes wrong without it, if nothing does. */
  readonly covered?: string;
}

const ledger: readonly Clause[] = [
  {
    id: 'wire-once',
    clause: 'a hold id goes over the wire once',
    file: 'lambdas/core/ledger/hold.ts',
    find: 'holdId: holdIdOf(order.requestId, id)',
    replace: 'holdId: holdIdOf(order.requestId, order.firstId ?? 0)',
    configuration: 'a',
  },
  {
    id: 'previous-absent',
    clause: 'a further id is held only if the one before is not',
    file: 'test/search/world.ts',
    find: '(previousHoldId === undefined || !account.holds.has(previousHoldId))',
    replace: 'true',
    configuration: 'a',
  },
  {
    id: 'adopt',
    clause: 'an earlier id that is held after all is adopted',
    file: 'lambdas/core/ledger/hold.ts',
    find: 'return attempts.findLast(({ holdId }) => reply.account.holds.has(holdId));',
    replace: 'return undefined;',
    configuration: 'a',
  },
  {
    id: 'record-if-absent',
    clause: 'a charge record is written only if there is none',
    file: 'test/search/world.ts',
    find: "if (present) return { world, answer: { kind: 'putRecord'",
    replace: "if (present && false) return { world, answer: { kind: 'putRecord'",
    configuration: 'a',
  },
  {
    id: 'obey-record',
    clause: 'whoever comes second obeys the record that is there',
    file: 'lambdas/core/ledger/resolve.ts',
    find: "return reply.kind === 'written' ? record : reply.record;",
    replace: 'return record;',
    configuration: 'a',
  },
  {
    id: 'apply-once',
    clause: 'a hold is closed only while it is open with that amount',
    file: 'test/search/world.ts',
    find: 'if (account.holds.get(record.holdId)?.amountPicos !== holdAmountPicos) {',
    replace: 'if (account.holds.size > 9) {',
    configuration: 'a',
  },
  {
    id: 'commit-first',
    clause: 'the charge is committed before the account is changed',
    file: 'lambdas/core/paid-call/settle.ts',
    find: 'return { record: await commit(deps.ledger, record), noted: false };',
    replace:
      'await apply(deps.ledger, record, placedHold.amountPicos);\n    return { record: await commit(deps.ledger, record), noted: false };',
    configuration: 'a',
  },
  {
    id: 'off-the-list',
    clause: 'an account leaves the sweep list only if no hold is open',
    file: 'test/search/world.ts',
    find: 'const stays = op.sweepAtMs === undefined && account.holds.size > 0;',
    replace: 'const stays = false;',
    configuration: 'a',
  },
  {
    id: 'on-the-list',
    clause: 'a hold puts its account onto the sweep list',
    file: 'test/search/world.ts',
    find: 'sweepAtMs: world.sweepAtMs ?? request.sweepAtMs',
    replace: 'sweepAtMs: world.sweepAtMs',
    configuration: 'a',
  },
  {
    id: 'released-fails',
    clause: 'an answer whose hold was released is not served',
    file: 'lambdas/core/paid-call/settle.ts',
    find: "if (committed.record.outcome === 'settled') return committed;",
    replace: 'return committed;',
    configuration: 'a',
  },
];

const outbox: readonly Clause[] = [
  {
    id: 'note-first',
    clause: 'whoever releases the hold of another looks for a note first',
    file: 'lambdas/core/ledger/release.ts',
    find: 'const note = await deps.outbox.read(holdId);',
    replace: 'const note = undefined;',
    configuration: 'd',
  },
  {
    id: 'note-in-time',
    clause: 'a note counts only if it was there before the hold expired',
    file: 'lambdas/core/ledger/outbox.ts',
    find: 'return leftMs() >= MARGIN_MS - TAKEN_MS && clock.now() < takenOverAtMs();',
    replace: 'return true;',
    configuration: 'd',
  },
  {
    id: 'note-in-lease',
    clause: 'under a key, a note counts only if it was there before the lease ended',
    file: 'lambdas/core/ledger/outbox.ts',
    find: ' && clock.now() < takenOverAtMs()',
    replace: '',
    configuration: 'e',
  },
  {
    id: 'lapsed',
    clause: 'a lease that had run out before it was renewed carries no note',
    file: 'lambdas/core/idempotency/claimed-execution.ts',
    find: 'if (ledger.clock.now() >= this.takenOverAtMs) this.#lapsed = true;',
    replace: '',
    configuration: 'e',
  },
  {
    id: 'release-decides',
    clause: 'a commit without an answer and without a note is closed by a release',
    file: 'lambdas/core/paid-call/settle.ts',
    find: "const standing = await commit(deps.ledger, { ...released, reason: 'commit_failed' }).catch(ifStoreError);",
    replace: 'const standing = { ...released, answer: undefined };',
    configuration: 'f',
  },
  {
    id: 'note-stays',
    clause: 'a note goes only after its charge is recorded',
    file: 'lambdas/core/ledger/outbox.ts',
    find: 'const record = await commit(deps, note.record);',
    replace: 'await deps.outbox.remove(holdId);\n  const record = await commit(deps, note.record);',
    configuration: 'd',
  },
];

const idempotency: readonly Clause[] = [
  {
    id: 'owner',
    clause: 'a take-over only from the owner whose holds were resolved',
    file: 'test/search/claim-steps.ts',
    find: 'const old = atWork(claim, from);',
    replace: 'const old = from === undefined ? undefined : claim;',
    configuration: 'heirs',
    covered: 'the vendor is called only under a lease that has not run out, and such a lease is not taken over',
  },
  {
    id: 'lease',
    clause: 'a take-over only after the lease has run out',
    file: 'lambdas/core/idempotency/claim.ts',
    find: 'if (claim.leaseUntilMs > nowMs) throw inProgress();',
    replace: '',
    configuration: 'e',
  },
  {
    id: 'resolve-holds',
    clause: 'a take-over first ends the holds of the request before',
    file: 'lambdas/core/idempotency/claim.ts',
    find: 'for (let id = 0; id < HOLD_IDS; id += 1) {',
    replace: 'for (let id = 0; id < 0; id += 1) {',
    configuration: 'c',
  },
  {
    id: 'resolve-all',
    clause: 'a take-over ends all ids of the request before, not the first alone',
    file: 'lambdas/core/idempotency/claim.ts',
    find: 'for (let id = 0; id < HOLD_IDS; id += 1) {',
    replace: 'for (let id = 0; id < 1; id += 1) {',
    configuration: 'c',
  },
  {
    id: 'clear-prepared',
    clause: 'a take-over clears the answer that was prepared',
    file: 'test/search/claim-steps.ts',
    find: "claim: { owner, leaseUntilMs, fingerprint, state: 'open', dispatches, expiresAtMs, prepared: undefined },\n    },\n    answer: { kind: 'takeOver'",
    replace:
      "claim: { owner, leaseUntilMs, fingerprint, state: 'open', dispatches, expiresAtMs, prepared: old.prepared },\n    },\n    answer: { kind: 'takeOver'",
    configuration: 'c',
    covered: 'it would be served only with the record of its own hold, and that was released before the take-over',
  },
  {
    id: 'matching-hash',
    clause: 'a prepared answer is served only with the record that carries its hash',
    file: 'lambdas/core/idempotency/claim.ts',
    find: 'if (record?.answer !== prepared.hash) return undefined;',
    replace: '',
    configuration: 'c',
  },
  {
    id: 'loser-silent',
    clause: 'whoever loses the commit never serves its own answer',
    file: 'lambdas/core/paid-call/settle.ts',
    find: "if (committed.record.outcome === 'settled') return committed;",
    replace: 'return committed;',
    configuration: 'c',
  },
  {
    id: 'loser-stops',
    clause: 'whoever loses its prepare does not go on to commit',
    file: 'lambdas/core/idempotency/claimed-execution.ts',
    find: 'throw new ClaimLost();\n  }\n\n  /** Returns the stored form',
    replace: "return 'lost';\n  }\n\n  /** Returns the stored form",
    configuration: 'c',
    covered: 'whoever took the key has released its hold before, and it obeys that record',
  },
  {
    id: 'prepare-first',
    clause: 'the answer is stored before the charge is committed',
    file: 'lambdas/core/paid-call/settle.ts',
    find: 'const answer = claimed && toStore && (await claimed.stageResponse(placedHold.holdId, toStore));',
    replace: "const answer = claimed && toStore && 'not stored';",
    configuration: 'c',
  },
  {
    id: 'settled-ends',
    clause: 'after a charge nobody dispatches again',
    file: 'lambdas/core/idempotency/claim.ts',
    find: 'if (settled) return answerOfSettled(deps, request);',
    replace: '',
    configuration: 'c',
  },
  {
    id: 'own-claim',
    clause: 'an answer is prepared only on a claim of its own',
    file: 'test/search/claim-steps.ts',
    find: "claim?.owner === owner && (claim.state === 'open' || claim.state === 'prepared') ? claim : undefined;",
    replace: "owner !== '' && (claim?.state === 'open' || claim?.state === 'prepared') ? claim : undefined;",
    configuration: 'c',
  },
  {
    id: 'abandon',
    clause: 'a claim whose charge is uncertain is not freed',
    file: 'lambdas/core/paid-call/settle.ts',
    find: 'claimed?.charging();',
    replace: '',
    configuration: 'g',
  },
];

export const editsOf = (clause: Clause): readonly Edit[] => [clause, ...(clause.also ? [clause.also] : [])];

export const clauses: readonly Clause[] = [...ledger, ...outbox, ...idempotency];
