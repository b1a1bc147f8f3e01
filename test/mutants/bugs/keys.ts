import { bugsIn, type MoneyBug } from './money-bug.ts';

const answerTests = 'test/lambdas/core/idempotency/claim-answer-once.test.ts';
const lostTests = 'test/lambdas/core/idempotency/claimed-execution-lost-claims.test.ts';

const claimBugs = bugsIn('lambdas/core/idempotency/claim.ts', answerTests, [
  {
    id: 'take-over-of-a-running-request',
    what: 'A claim is taken over, and its holds are released, while its request is in progress.',
    find: 'if (isLeased(deps, claim, Math.max(nowMs, ledger.clock.now()))) throw inProgress();',
    replace: '',
  },
  {
    id: 'lease-of-a-wrong-clock-lasts',
    what: 'A lease that was taken while the clock was ahead blocks its key for as long as the clock was ahead.',
    find: 'if (isAhead(claim.leaseUntilMs, nowMs, leaseMs + SKEW_MS_MAX)) return true;',
    replace: 'if (claim.leaseUntilMs > nowMs) return true;',
  },
  {
    id: 'take-over-of-one-id',
    what: 'A takeover ends only the first hold id of the old request and leaves the other three.',
    find: 'for (let id = 0; id < HOLD_IDS; id += 1)',
    replace: 'for (let id = 0; id < 1; id += 1)',
  },
  {
    id: 'take-over-leaves-money-held',
    what: 'A takeover records the releases but does not release the money.',
    find: 'if (hold) await apply(ledger, record, hold.amountPicos);',
    replace: 'if (hold) await Promise.resolve(apply && record);',
    caughtBy: lostTests,
  },
  {
    id: 'dispatch-after-a-charge',
    what: 'A takeover calls the provider again although the old request was charged.',
    find: 'if (settled) return answerOfSettled(deps, request);',
    replace: 'await Promise.resolve(settled && answerOfSettled);',
    caughtBy: lostTests,
  },
  {
    id: 'other-request-under-the-key',
    what: 'A different request with the same idempotency key gets the response of the first.',
    find: 'if (claim.fingerprint !== fingerprint) {',
    replace: "if (claim.fingerprint !== fingerprint && fingerprint === '') {",
  },
]);

const answerBugs = bugsIn('lambdas/core/idempotency/claim.ts', lostTests, [
  {
    id: 'prepared-answer-without-its-record',
    what: 'A staged response without a charge is returned.',
    find: 'if (record?.answer !== prepared.hash) return undefined;',
    replace: "if (record?.answer === 'never') return undefined;",
  },
]);

const attemptBugs = bugsIn('lambdas/core/idempotency/claimed-execution.ts', answerTests, [
  {
    id: 'lapsed-lease-forgotten',
    what: 'A lease that was renewed after its expiry counts as if no other request could have released the hold.',
    find: 'if (ledger.clock.now() >= this.takenOverAtMs) this.#lapsed = true;',
    replace: '',
    caughtBy: lostTests,
  },
  {
    id: 'call-after-a-take-over',
    what: 'An owner that wakes after a takeover calls the provider anyway.',
    find: 'if (this.#deps.ledger.clock.now() >= this.takenOverAtMs) await this.#renewOrLose(holdId);',
    replace: 'await Promise.resolve(holdId);',
    caughtBy: 'test/lambdas/core/idempotency/claimed-execution-doubtful-ends.test.ts',
  },
  {
    id: 'prepare-that-failed-is-charged',
    what: 'A response is charged although it was not stored.',
    find: "throw new GatewayError('service_unavailable', 'The response could not be stored",
    replace:
      "if (error) return '';\n      throw new GatewayError('service_unavailable', 'The response could not be stored",
  },
  {
    id: 'key-freed-after-its-charge',
    what: 'A claim whose response was charged is freed if its completion was not written.',
    find: 'if (this.#ended) return;\n    this.#end();',
    replace: 'this.#end();',
    caughtBy: lostTests,
  },
  {
    id: 'lease-never-renewed',
    what: 'A long request loses its claim.',
    find: 'if (!this.#ended) this.#renewLater();',
    replace: '',
    caughtBy: lostTests,
  },
  {
    id: 'dispatches-not-counted',
    what: 'One idempotency key can cause any number of provider calls.',
    find: 'this.#dispatchesBefore + (this.#dispatched ? 1 : 0)',
    replace: 'this.#dispatchesBefore',
  },
]);

const onceBugs = bugsIn('lambdas/core/idempotency/claim.ts', answerTests, [
  {
    id: 'loser-serves-an-error',
    what: 'A request that lost its claim does not look for the response of the new owner.',
    find: 'const answer = await answerOfAnother(deps, request);',
    replace: 'const answer = await Promise.resolve<StoredResponse | undefined>(answerOfAnother && undefined);',
  },
]);

const settleBugs = bugsIn('lambdas/core/paid-call/settle.ts', lostTests, [
  {
    id: 'loser-serves-its-own-answer',
    what: 'A request that lost its claim and its charge returns its own response anyway.',
    find: "if (committed.record.outcome === 'settled') return committed;",
    replace: "if (claimed || committed.record.outcome === 'settled') return committed;",
  },
]);

export const keyBugs: readonly MoneyBug[] = [...claimBugs, ...answerBugs, ...attemptBugs, ...onceBugs, ...settleBugs];
