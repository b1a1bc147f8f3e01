import { bugsIn, type MoneyBug } from './money-bug.ts';

const answerTests = 'test/lambdas/core/idempotency/claim-answer-once.test.ts';
const lostTests = 'test/lambdas/core/idempotency/claimed-execution-lost-claims.test.ts';

const claimBugs = bugsIn('lambdas/core/idempotency/claim.ts', answerTests, [
  {
    id: 'take-over-of-a-running-request',
    what: 'A key is taken over, and its holds are released, while its request is at work.',
    find: 'if (claim.leaseUntilMs > nowMs) throw inProgress();',
    replace: '',
  },
  {
    id: 'take-over-of-one-id',
    what: 'A take-over ends the first hold id of the old request and leaves it the three others.',
    find: 'for (let id = 0; id < HOLD_IDS; id += 1)',
    replace: 'for (let id = 0; id < 1; id += 1)',
  },
  {
    id: 'take-over-leaves-money-held',
    what: 'A take-over records the releases and leaves the money held.',
    find: 'if (hold) await apply(ledger, record, hold.amountPicos);',
    replace: 'if (hold) await Promise.resolve(apply && record);',
    caughtBy: lostTests,
  },
  {
    id: 'dispatch-after-a-charge',
    what: 'A take-over calls the vendor again although the old request was charged.',
    find: 'if (settled) return answerOfSettled(deps, request);',
    replace: 'await Promise.resolve(settled && answerOfSettled);',
    caughtBy: lostTests,
  },
  {
    id: 'other-request-under-the-key',
    what: 'Another request under the same key gets the answer of the first.',
    find: 'if (claim.fingerprint !== fingerprint) {',
    replace: "if (claim.fingerprint !== fingerprint && fingerprint === '') {",
  },
]);

const answerBugs = bugsIn('lambdas/core/idempotency/claim.ts', lostTests, [
  {
    id: 'prepared-answer-without-its-record',
    what: 'An answer that was prepared and never charged is served.',
    find: 'if (record?.answer !== prepared.hash) return undefined;',
    replace: "if (record?.answer === 'never') return undefined;",
  },
]);

const attemptBugs = bugsIn('lambdas/core/idempotency/claimed-execution.ts', answerTests, [
  {
    id: 'lapsed-lease-forgotten',
    what: 'A lease that ran out and was renewed counts as if nobody could have released the hold meanwhile.',
    find: 'if (ledger.clock.now() >= this.takenOverAtMs) this.#lapsed = true;',
    replace: '',
    caughtBy: lostTests,
  },
  {
    id: 'call-after-a-take-over',
    what: 'An owner that woke after its key was taken over calls the vendor all the same.',
    find: 'if (this.#deps.ledger.clock.now() >= this.takenOverAtMs) await this.#renewOrLose(holdId);',
    replace: 'await Promise.resolve(holdId);',
    caughtBy: 'test/lambdas/core/idempotency/claimed-execution-doubtful-ends.test.ts',
  },
  {
    id: 'prepare-that-failed-is-charged',
    what: 'An answer is charged although it could not be stored.',
    find: "throw new GatewayError('service_unavailable', 'The response could not be stored",
    replace:
      "if (error) return '';\n      throw new GatewayError('service_unavailable', 'The response could not be stored",
  },
  {
    id: 'key-freed-after-its-charge',
    what: 'A key whose answer was charged is freed when its completion was not written.',
    find: 'if (this.#ended) return;\n    this.#end();',
    replace: 'this.#end();',
    caughtBy: lostTests,
  },
  {
    id: 'lease-never-renewed',
    what: 'A request that takes long loses its key.',
    find: 'if (!this.#ended) this.#renewLater();',
    replace: '',
    caughtBy: lostTests,
  },
  {
    id: 'dispatches-not-counted',
    what: 'A key can call the vendor any number of times.',
    find: 'this.#dispatchesBefore + (this.#dispatched ? 1 : 0)',
    replace: 'this.#dispatchesBefore',
  },
]);

const onceBugs = bugsIn('lambdas/core/idempotency/claim.ts', answerTests, [
  {
    id: 'loser-serves-an-error',
    what: 'Whoever lost its key does not look for the answer of the one who has it.',
    find: 'const answer = await answerOfAnother(deps, request);',
    replace: 'const answer = await Promise.resolve<StoredResponse | undefined>(answerOfAnother && undefined);',
  },
]);

const settleBugs = bugsIn('lambdas/core/paid-call/settle.ts', lostTests, [
  {
    id: 'loser-serves-its-own-answer',
    what: 'Whoever lost its key and its charge serves its own answer all the same.',
    find: "if (committed.record.outcome === 'settled') return committed;",
    replace: "if (claimed || committed.record.outcome === 'settled') return committed;",
  },
]);

export const keyBugs: readonly MoneyBug[] = [...claimBugs, ...answerBugs, ...attemptBugs, ...onceBugs, ...settleBugs];
