interface Edit {
  readonly file: string;
  /** Must occur in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** One clause of the protocols, and an edit that removes it from the code. */
export interface Clause extends Edit {
  readonly id: string;
  readonly clause: string;
  /** Second place in which the code implements the clause. */
  readonly also?: Edit;
  /** Id of the configuration that fails without the clause. */
  readonly configuration: string;
  /** Why no configuration fails without the clause, if none does. */
  readonly covered?: string;
}

const ledger: readonly Clause[] = [
  {
    id: 'wire-once',
    clause: 'the store client sends each hold id once',
    file: 'lambdas/core/ledger/hold.ts',
    find: 'holdId: holdIdOf(order.requestId, id)',
    replace: 'holdId: holdIdOf(order.requestId, order.firstId ?? 0)',
    configuration: 'a',
  },
  {
    id: 'previous-absent',
    clause: 'a hold with a further id requires that the previous id is not held',
    file: 'test/search/world.ts',
    find: '(previousHoldId === undefined || !account.holds.has(previousHoldId))',
    replace: 'true',
    configuration: 'a',
  },
  {
    id: 'adopt',
    clause: 'a request adopts an earlier id whose hold was placed after all',
    file: 'lambdas/core/ledger/hold.ts',
    find: 'const held = attempts.findLast(({ holdId }) => reply.account.holds.has(holdId));',
    replace: 'const held = attempts.find(() => false);',
    configuration: 'a',
  },
  {
    id: 'record-if-absent',
    clause: 'a charge record is written only if none exists',
    file: 'test/search/world.ts',
    find: "if (present) return { world, answer: { kind: 'putRecord'",
    replace: "if (present && false) return { world, answer: { kind: 'putRecord'",
    configuration: 'a',
  },
  {
    id: 'obey-record',
    clause: 'the second writer of a record follows the existing record',
    file: 'lambdas/core/ledger/resolve.ts',
    find: "return reply.kind === 'written' ? record : reply.record;",
    replace: 'return record;',
    configuration: 'a',
  },
  {
    id: 'apply-once',
    clause: 'a hold is closed only while it is open with the same amount',
    file: 'lambdas/core/ledger/close-hold.ts',
    find: 'if (hold?.amountPicos !== holdAmountPicos || hold.isNewer) return undefined;',
    replace: 'if (hold?.isNewer) return undefined;',
    configuration: 'a',
  },
  {
    id: 'commit-first',
    clause: 'the charge is committed before the account is changed',
    file: 'lambdas/core/paid-call/settle.ts',
    find: 'return { record: await commit(deps.ledger, record, COMMIT_LIMIT_MS), noted: false };',
    replace:
      'await apply(deps.ledger, record, placedHold.amountPicos);\n    return { record: await commit(deps.ledger, record, COMMIT_LIMIT_MS), noted: false };',
    configuration: 'a',
  },
  {
    id: 'off-the-list',
    clause: 'an account leaves the sweep list only if it has no open hold',
    file: 'test/search/world.ts',
    find: 'const stays = isSetSince || (op.sweepAtMs === undefined && account.holds.size > 0);',
    replace: 'const stays = isSetSince;',
    configuration: 'a',
  },
  {
    id: 'on-the-list',
    clause: 'a hold puts its account on the sweep list',
    file: 'test/search/world.ts',
    find: 'sweepAtMs: world.sweepAtMs ?? request.sweepAtMs',
    replace: 'sweepAtMs: world.sweepAtMs',
    configuration: 'a',
  },
  {
    id: 'released-fails',
    clause: 'a response whose hold was released is not returned',
    file: 'lambdas/core/paid-call/settle.ts',
    find: "if (committed.record.outcome === 'settled') return committed;",
    replace: 'return committed;',
    configuration: 'a',
  },
];

const credits: readonly Clause[] = [
  {
    id: 'credit-covers-return',
    clause: 'refunds and chargebacks of a credit stay within its amount',
    file: 'test/search/credit-steps.ts',
    find: 'if (returnedPicos > creditAmountPicos) return undefined;',
    replace: '',
    configuration: 'returns',
  },
  {
    id: 'reversed-once',
    clause: 'a chargeback is reversed only if it is not reversed yet',
    file: 'test/search/credit-steps.ts',
    find: 'if (chargeback.reversedBy !== undefined) return undefined;',
    replace: '',
    configuration: 'returns',
  },
];

const caps: readonly Clause[] = [
  {
    id: 'cap-covers',
    clause: 'a hold requires that the rest of its cap covers it',
    file: 'lambdas/core/ledger/caps.ts',
    find: 'return leftPicos < 0n ? undefined : new Map(caps)',
    replace: 'return new Map(caps)',
    configuration: 'caps',
  },
  {
    id: 'cap-period',
    clause: 'a hold requires that its cap is in the period that the request has seen',
    file: 'lambdas/core/ledger/caps.ts',
    find: 'if (cap.period !== (ends ?? period)) return undefined;',
    replace: '',
    configuration: 'caps',
  },
  {
    id: 'cap-kept-period',
    clause: 'a period to which a clock is set back continues with its amount',
    file: 'lambdas/core/ledger/caps.ts',
    find: "if (start === 'kept') return kept;",
    replace: "if (start === 'kept') return cap.limitPicos;",
    configuration: 'caps-back',
  },
  {
    id: 'cap-in-hold',
    clause: 'a hold stores the period of its cap',
    file: 'lambdas/core/ledger/ledger.ts',
    find: 'return { amountPicos, expiresAtMs, ...(cap && { cap }) };',
    replace: 'return { amountPicos, expiresAtMs };',
    configuration: 'cap',
  },
  {
    id: 'cap-of-close',
    clause: 'a closed hold changes its cap only in its own period',
    file: 'lambdas/core/ledger/caps.ts',
    find: 'if (cap.period === holdCap.period) {',
    replace: 'if (cap.period !== "") {',
    configuration: 'caps',
  },
  {
    id: 'cap-in-record',
    clause: 'a charge record names the cap of its hold',
    file: 'lambdas/core/paid-call/settle.ts',
    find: '...(placedHold.cap && { cap: placedHold.cap }),',
    replace: '',
    configuration: 'cap',
  },
];

const outbox: readonly Clause[] = [
  {
    id: 'note-first',
    clause: "a release of another request's hold reads the outbox first",
    file: 'lambdas/core/ledger/release.ts',
    find: 'const note = await deps.outbox.read(holdId);',
    replace: 'const note = undefined;',
    configuration: 'd',
  },
  {
    id: 'note-in-time',
    clause: 'an outbox entry counts only if it was written before the hold expired',
    file: 'lambdas/core/ledger/outbox.ts',
    find: 'return leftMs() >= MARGIN_MS - TAKEN_MS && clock.now() < takenOverAtMs();',
    replace: 'return true;',
    configuration: 'd',
  },
  {
    id: 'note-in-lease',
    clause: 'with an idempotency key, an outbox entry counts only if it was written before the lease expired',
    file: 'lambdas/core/ledger/outbox.ts',
    find: ' && clock.now() < takenOverAtMs()',
    replace: '',
    configuration: 'e',
  },
  {
    id: 'lapsed',
    clause: 'an outbox entry does not count if the lease was renewed after it had expired',
    file: 'lambdas/core/idempotency/claimed-execution.ts',
    find: 'if (ledger.clock.now() >= this.takenOverAtMs) this.#lapsed = true;',
    replace: '',
    configuration: 'e',
  },
  {
    id: 'release-decides',
    clause: 'a commit without a definite result and without an outbox entry ends with a release',
    file: 'lambdas/core/paid-call/settle.ts',
    find: "const standing = await commit(deps.ledger, { ...released, reason: 'commit_failed' }).catch(ifStoreError);",
    replace: 'const standing = { ...released, answer: undefined };',
    configuration: 'f',
  },
  {
    id: 'note-stays',
    clause: 'an outbox entry is removed only after its charge is recorded',
    file: 'lambdas/core/ledger/outbox.ts',
    find: 'const record = await commit(deps, note.record);',
    replace: 'await deps.outbox.remove(holdId);\n  const record = await commit(deps, note.record);',
    configuration: 'd',
  },
];

const idempotency: readonly Clause[] = [
  {
    id: 'owner',
    clause: 'a takeover requires that the claim still has the owner whose holds were resolved',
    file: 'test/search/claim-steps.ts',
    find: 'const old = atWork(claim, from);',
    replace: 'const old = from === undefined ? undefined : claim;',
    configuration: 'heirs',
    covered: 'the provider is called only under a valid lease, and a valid lease cannot be taken over',
  },
  {
    id: 'lease',
    clause: 'a takeover requires an expired lease',
    file: 'lambdas/core/idempotency/claim.ts',
    find: 'if (isLeased(deps, claim, Math.max(nowMs, ledger.clock.now()))) throw inProgress();',
    replace: '',
    configuration: 'e',
  },
  {
    id: 'resolve-holds',
    clause: 'a takeover first ends the holds of the previous request',
    file: 'lambdas/core/idempotency/claim.ts',
    find: 'for (let id = 0; id < HOLD_IDS; id += 1) {',
    replace: 'for (let id = 0; id < 0; id += 1) {',
    configuration: 'c',
  },
  {
    id: 'resolve-all',
    clause: 'a takeover ends all hold ids of the previous request, not only the first',
    file: 'lambdas/core/idempotency/claim.ts',
    find: 'for (let id = 0; id < HOLD_IDS; id += 1) {',
    replace: 'for (let id = 0; id < 1; id += 1) {',
    configuration: 'c',
  },
  {
    id: 'clear-prepared',
    clause: 'a takeover removes the staged response',
    file: 'test/search/claim-steps.ts',
    find: "claim: { owner, leaseUntilMs, fingerprint, state: 'open', dispatches, expiresAtMs, prepared: undefined },\n    },\n    answer: { kind: 'takeOver'",
    replace:
      "claim: { owner, leaseUntilMs, fingerprint, state: 'open', dispatches, expiresAtMs, prepared: old.prepared },\n    },\n    answer: { kind: 'takeOver'",
    configuration: 'c',
    covered: 'a staged response needs the record of its own hold, which the takeover released before',
  },
  {
    id: 'matching-hash',
    clause: 'a staged response is returned only with the record that has its hash',
    file: 'lambdas/core/idempotency/claim.ts',
    find: 'if (record?.answer !== prepared.hash) return undefined;',
    replace: '',
    configuration: 'c',
  },
  {
    id: 'loser-silent',
    clause: 'a request that loses the commit does not return its own response',
    file: 'lambdas/core/paid-call/settle.ts',
    find: "if (committed.record.outcome === 'settled') return committed;",
    replace: 'return committed;',
    configuration: 'c',
  },
  {
    id: 'loser-stops',
    clause: 'a request that cannot stage its response does not commit',
    file: 'lambdas/core/idempotency/claimed-execution.ts',
    find: 'throw new ClaimLost();\n  }\n\n  /** Returns the stored form',
    replace: "return 'lost';\n  }\n\n  /** Returns the stored form",
    configuration: 'c',
    covered: 'the new owner of the claim released the hold before, and the old owner follows that record',
  },
  {
    id: 'prepare-first',
    clause: 'the response is staged before the charge is committed',
    file: 'lambdas/core/paid-call/settle.ts',
    find: 'const answer = claimed && toStore && (await claimed.stageResponse(placedHold.holdId, toStore));',
    replace: "const answer = claimed && toStore && 'not stored';",
    configuration: 'c',
  },
  {
    id: 'settled-ends',
    clause: 'a charged request is never dispatched again',
    file: 'lambdas/core/idempotency/claim.ts',
    find: 'if (settled) return answerOfSettled(deps, request);',
    replace: '',
    configuration: 'c',
  },
  {
    id: 'own-claim',
    clause: 'a request stages a response only on its own claim',
    file: 'test/search/claim-steps.ts',
    find: "claim?.owner === owner && (claim.state === 'open' || claim.state === 'prepared') ? claim : undefined;",
    replace: "owner !== '' && (claim?.state === 'open' || claim?.state === 'prepared') ? claim : undefined;",
    configuration: 'c',
  },
  {
    id: 'abandon',
    clause: 'a claim with an uncertain charge is not freed',
    file: 'lambdas/core/paid-call/settle.ts',
    find: 'claimed?.charging();',
    replace: '',
    configuration: 'g',
  },
];

export const editsOf = (clause: Clause): readonly Edit[] => [clause, ...(clause.also ? [clause.also] : [])];

export const clauses: readonly Clause[] = [...ledger, ...credits, ...caps, ...outbox, ...idempotency];
