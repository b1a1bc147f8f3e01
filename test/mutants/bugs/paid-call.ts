import { bugsIn, type MoneyBug } from './money-bug.ts';

const text = 'test/lambdas/core/text';
const reservationTests = 'test/lambdas/core/paid-call/with-paid-call-reservation.test.ts';
const fallbackListTests = `${text}/generate-text-fallback-list.test.ts`;
const pumpTests = 'test/lambdas/core/paid-call/with-paid-call-pump.test.ts';

const settleBugs = bugsIn('lambdas/core/paid-call/settle.ts', `${text}/generate-text-store-down.test.ts`, [
  {
    id: 'released-is-success',
    what: 'A response is returned although the sweeper released its hold.',
    find: "if (committed.record.outcome === 'settled') return committed;",
    replace: 'if (committed.record) return committed;',
  },
  {
    id: 'apply-before-commit',
    what: 'The account changes before the charge is recorded.',
    find: 'return { record: await commit(deps.ledger, record, COMMIT_LIMIT_MS), noted: false };',
    replace:
      'await apply(deps.ledger, record, placedHold.amountPicos);\n    return { record: await commit(deps.ledger, record, COMMIT_LIMIT_MS), noted: false };',
    caughtBy: `${text}/generate-text.test.ts`,
  },
  {
    id: 'prepare-after-commit',
    what: 'A response with an idempotency key is stored after its charge, which therefore lacks its hash.',
    find: `const answer = claimed && toStore && (await claimed.stageResponse(placedHold.holdId, toStore));
    claimed?.charging();
    committed = await writeRecord(deps, settlement, toRecord(deps, settlement, charge, answer));`,
    replace: `committed = await writeRecord(deps, settlement, toRecord(deps, settlement, charge, undefined));
    if (claimed && toStore) await claimed.stageResponse(placedHold.holdId, toStore);`,
    caughtBy: 'test/lambdas/core/idempotency/claim-answer-once.test.ts',
  },
  {
    id: 'end-user-prevents-the-charge',
    what: 'A user name with half of a character makes the store reject the charge, and the request is free.',
    find: 'endUser: endUser.toWellFormed()',
    replace: 'endUser',
    caughtBy: `${text}/generate-text.test.ts`,
  },
  {
    id: 'record-without-the-hash',
    what: 'The charge record lacks the hash of its response.',
    find: '...(answer === undefined ? {} : { answer }),',
    replace: '',
    caughtBy: 'test/lambdas/core/idempotency/claim-answer-once.test.ts',
  },
  {
    id: 'missing-usage-without-a-reason',
    what: 'A receipt of 0 USD does not say that the provider reported no usage.',
    find: '...(isUsageMissing(settlement, charge) ? { reason: USAGE_MISSING } : {}),',
    replace: '',
    caughtBy: 'test/lambdas/core/paid-call/settle-missing-usage.test.ts',
  },
  {
    id: 'overage-cut',
    what: 'A charge above its hold is reduced to the hold.',
    find: 'const charge = chargeFor(usage);',
    replace: `const whole = chargeFor(usage);
  const held = placedHold.amountPicos;
  const charge = whole.amountPicos > held ? { ...whole, amountPicos: held } : whole;`,
    caughtBy: `${text}/generate-text-budget.test.ts`,
  },
  {
    id: 'overage-not-flagged',
    what: 'A charge above its hold is not marked, so it looks like a corrupt account.',
    find: '...(isOverage(settlement, charge) ? { overage: true } : {}),',
    replace: '',
    caughtBy: `${text}/generate-text-budget.test.ts`,
  },
  {
    id: 'committed-charge-refused',
    what: 'A response is withheld although its charge turns out to be committed.',
    find: "if (standing?.outcome === 'settled') return { record: standing, noted: false };",
    replace: '',
  },
  {
    id: 'uncertain-charge-left-open',
    what: 'A charge without a definite reply is not checked again before the client gets an error.',
    find: "const standing = await commit(deps.ledger, { ...released, reason: 'commit_failed' }).catch(ifStoreError);",
    replace: 'const standing = await Promise.resolve<ChargeRecord | undefined>(released && undefined);',
  },
  {
    id: 'key-freed-over-unknown-money',
    what: 'A claim is freed for another request while its charge may still be committed.',
    find: 'claimed?.charging();',
    replace: '',
    caughtBy: 'test/lambdas/core/idempotency/claimed-execution-lost-claims.test.ts',
  },
  {
    id: 'charged-and-then-refused',
    what: 'A charged response is withheld because the account could not be updated.',
    find: '// Whatever the error is, the response is paid for and',
    replace: "throw new GatewayError('service_unavailable', 'The account cannot be reached.'); //",
  },
]);

const giveBackBugs = bugsIn('lambdas/core/paid-call/with-paid-call.ts', `${text}/generate-text-store-down.test.ts`, [
  {
    id: 'failure-keeps-its-hold',
    what: 'A failed request does not release its hold.',
    find: 'const record = await releaseCall(ledger, placedHold, callReport, reason);',
    replace: 'const record = await Promise.resolve<Awaited<ReturnType<typeof releaseCall>>>(reason && undefined);',
    caughtBy: `${text}/text-stream.test.ts`,
  },
  {
    id: 'charge-denied',
    what: 'A client gets "Nothing was charged." although a charge is committed.',
    find: "if (record?.outcome === 'settled') {",
    replace: "if (record?.reason === 'never') {",
  },
]);

const enterBugs = bugsIn('lambdas/core/paid-call/with-paid-call.ts', `${text}/generate-text-fallback.test.ts`, [
  {
    id: 'circuit-loser-keeps-its-hold',
    what: 'A request that does not get the probe of a circuit keeps its hold.',
    find: 'await releaseCall(deps.ledger, placedHold, callReport, { reason, modelId: model.id });',
    replace: '',
  },
  {
    id: 'fallback-under-the-first-id',
    what: 'The hold for the fallback model uses an id that is already closed.',
    find: 'await enter(candidate, entered.nextId, isLast)',
    replace: 'await enter(candidate, 0, isLast)',
  },
  {
    id: 'fallback-held-at-another-price',
    what: 'The hold for the fallback model uses the price of the requested model.',
    find: '{ ...hold, accountId, requestId, firstId, endId, storeTime, cap }',
    replace: '{ ...hold, amountPicos: first.hold.amountPicos, accountId, requestId, firstId, endId, storeTime, cap }',
  },
  {
    id: 'last-lost-probe-without-an-error',
    what: 'A request that loses its last probe has no error in its records, so it looks unfinished.',
    find: ' && !isLast && (!claimed || placedHold.nextId < HOLD_IDS)',
    replace: '',
    caughtBy: fallbackListTests,
  },
  {
    id: 'hold-id-beyond-the-last',
    what: 'A request without a further hold id looks for another fallback model, and its records have no error.',
    find: ' && (!claimed || placedHold.nextId < HOLD_IDS)',
    replace: '',
    caughtBy: fallbackListTests,
  },
  {
    id: 'hold-that-no-takeover-ends',
    what: 'A request with an idempotency key places a fifth hold, which a takeover does not end before it charges again.',
    find: 'claimed ? HOLD_IDS : firstId + HOLD_IDS',
    replace: 'firstId + HOLD_IDS',
    caughtBy: fallbackListTests,
  },
  {
    id: 'last-retry-instead-of-the-earliest',
    what: 'A request that every circuit rejects waits for the last model, although another one is free earlier.',
    find: 'throw errors.reduce(sooner, entered.error);',
    replace: 'throw entered.error;',
    caughtBy: fallbackListTests,
  },
]);

const fallbackListBugs = [
  ...bugsIn('lambdas/core/text/text-candidates.ts', fallbackListTests, [
    {
      id: 'quarantined-fallback-skipped',
      what: 'A fallback model that is disabled for missing usage is skipped, as if its circuit were open.',
      find: "if (rejection.kind !== 'open') break;",
      replace: '',
    },
    {
      id: 'fallback-called-twice',
      what: 'A fallback model that loses its probe gets a second hold.',
      find: 'others: fallbacks.slice(index + 1)',
      replace: 'others: fallbacks.slice(index)',
    },
  ]),
  ...bugsIn('lambdas/core/idempotency/stored-response.ts', 'test/lambdas/protocols/paid-request.test.ts', [
    {
      id: 'fallback-list-cut-in-the-fingerprint',
      what: 'A request with another list of fallback models gets the stored response, if the first model is the same.',
      find: 'fallbackModelIds.length > 1 ? fallbackModelIds : (fallbackModelIds[0] ?? null)',
      replace: 'fallbackModelIds[0] ?? null',
    },
  ]),
];

const reservationBugs = bugsIn('lambdas/core/paid-call/with-paid-call.ts', reservationTests, [
  {
    id: 'throw-without-release',
    what: 'A call that throws keeps its hold.',
    find: 'throw await failPaidCall(deps.ledger, failed, withdraw ? await withdraw(error) : error);',
    replace: 'throw failed && withdraw ? await withdraw(error) : error;',
  },
  {
    id: 'release-before-the-withdrawal',
    what: 'The hold of a failed video creation is released although its video could not be withdrawn.',
    find: 'throw await failPaidCall(deps.ledger, failed, withdraw ? await withdraw(error) : error);',
    replace: `const failure = await failPaidCall(deps.ledger, failed, error);
    throw withdraw ? await withdraw(failure) : failure;`,
  },
  {
    id: 'circuit-blamed-before-the-call',
    what: 'A failure before the provider call counts toward the circuit of the provider.',
    find: "await permit.report('unknown');",
    replace: '',
    caughtBy: 'test/lambdas/core/idempotency/claimed-execution-doubtful-ends.test.ts',
  },
  {
    id: 'deadline-of-a-failed-call-runs-on',
    what: 'The deadline of a failed call keeps its timer.',
    find: 'candidate.deadline?.stop();',
    replace: '',
  },
]);

const pumpBugs = bugsIn('lambdas/core/paid-call/with-paid-call.ts', `${text}/text-stream.test.ts`, [
  {
    id: 'last-chunk-before-the-charge',
    what: 'A stream sends its end before its charge is recorded.',
    find: `const committed = await commitCharge(deps, paid, usage);
    receipt = { costPicos: committed.record.amountPicos, usage, balancePicos: undefined };
    sink.finish(last, receipt);
    finished = true;`,
    replace: `receipt = { costPicos: paid.chargeFor(usage).amountPicos, usage, balancePicos: undefined };
    sink.finish(last, receipt);
    finished = true;
    const committed = await commitCharge(deps, paid, usage);`,
  },
  {
    id: 'account-before-the-last-chunk',
    what: 'The last chunk of a charged stream waits for the update of the account.',
    find: `sink.finish(last, receipt);
    finished = true;
    await Promise.all([
      applyCharge(deps, paid, committed),`,
    replace: `await applyCharge(deps, paid, committed);
    sink.finish(last, receipt);
    finished = true;
    await Promise.all([`,
  },
  {
    id: 'broken-stream-keeps-its-hold',
    what: 'A stream that breaks off does not release its hold.',
    find: 'const failure = await failPaidCall(deps.ledger, failed, error);',
    replace: 'const failure = await Promise.resolve(failPaidCall && failed && error);',
  },
  {
    id: 'broken-stream-keeps-its-connection',
    what: 'An ended stream keeps the connection to its provider.',
    find: 'source.close();',
    replace: '',
  },
  {
    id: 'charged-stream-fails',
    what: 'A charged and complete stream gets an error event after its end.',
    find: 'if (!finished) sink.fail(asGatewayError(failure));',
    replace: 'sink.fail(asGatewayError(failure));',
    caughtBy: pumpTests,
  },
  {
    id: 'deadline-over-the-commit-of-speech',
    what: 'The provider deadline keeps running while the charge of a complete stream is committed.',
    find: "if (source.deadline === 'until-last-byte') paid.deadline.stop();",
    replace: '',
    caughtBy: pumpTests,
  },
]);

const streamBugs = bugsIn('lambdas/core/text/text-stream.ts', `${text}/text-stream.test.ts`, [
  {
    id: 'cut-stream-is-success',
    what: 'A provider stream without an end event is completed normally and not charged.',
    find: "throw new Error('a wire ended its stream without an end event');",
    replace: "return { last: { kind: 'neutral', finishReason: 'stop' }, usage: undefined };",
  },
]);

const textBugs = bugsIn('lambdas/core/text/generate-text.ts', `${text}/generate-text.test.ts`, [
  {
    id: 'dry-run-that-holds',
    what: 'A dry run places a hold.',
    find: 'if (options.dryRun) return dryRun(deps, caller, order, first);',
    replace:
      'if (options.dryRun) await withPaidCall(deps, caller, { first: await makeReady(deps, caller, order, first) }, async () => async () => undefined);\n  if (options.dryRun) return dryRun(deps, caller, order, first);',
    caughtBy: `${text}/generate-text-fallback.test.ts`,
  },
  {
    id: 'price-at-the-end',
    what: 'The charge uses the prices at the time of the response, not of the hold.',
    find: '...settlementTerms(checked, cap, caller.estimate) };',
    replace: `...settlementTerms(checked, cap, caller.estimate), chargeFor: (usage: Parameters<ReturnType<typeof settlementTerms>['chargeFor']>[0]) => {
    const row = deps.catalog.priceRow(model, deps.ledger.clock.now());
    return settlementTerms({ ...checked, row }, cap).chargeFor(usage);
  } };`,
  },
  {
    id: 'cap-not-sent',
    what: 'The provider does not receive the token cap of the hold.',
    find: 'send({ outputTokensMax: cap,',
    replace: 'send({ outputTokensMax: model.limits.outputTokensMax,',
    caughtBy: `${text}/generate-text-budget.test.ts`,
  },
  {
    id: 'key-without-its-answer',
    what: 'A request with an idempotency key is charged without storing its response.',
    find: 'usage: sent.usage, terms, toStored }',
    replace: 'usage: sent.usage, terms }',
    caughtBy: 'test/lambdas/core/idempotency/claim-answer-once.test.ts',
  },
  {
    id: 'call-outside-its-key',
    what: 'A request with an idempotency key runs and is charged as if it had none.',
    find: 'claimed: idempotent?.claimed }',
    replace: 'claimed: undefined }',
    caughtBy: 'test/lambdas/core/idempotency/claim-answer-once.test.ts',
  },
]);

const deadlineBugs = bugsIn('lambdas/core/paid-call/deadline.ts', 'test/lambdas/core/paid-call/deadline.test.ts', [
  {
    id: 'hold-without-grace',
    what: 'A hold expires with the deadline, and the sweeper releases requests that are being charged.',
    find: 'now + allowedMs + deps.holdGraceMs',
    replace: 'now + allowedMs',
  },
]);

const leftBugs = bugsIn('lambdas/http/event-stream.ts', 'test/lambdas/http/event-stream.test.ts', [
  {
    id: 'client-that-leaves-cancels',
    what: 'A client that leaves ends its stream with an error and is not charged.',
    find: 'if (this.#gone || this.#ended) return;',
    replace: "if (this.#gone) throw new Error('no reader');\n    if (this.#ended) return;",
  },
]);

const abortBugs = bugsIn('lambdas/providers/upstream-http.ts', 'test/lambdas/providers/upstream-http.test.ts', [
  {
    id: 'aborted-response-looks-complete',
    what: 'A response that passes its deadline unread ends without an error and without its last bytes.',
    find: '    failBody();\n',
    replace: '',
  },
]);

const textLengthBugs = bugsIn('lambdas/http/response-mode.ts', 'test/lambdas/http/response-mode.test.ts', [
  {
    id: 'text-longer-than-its-length',
    what: 'A slice splits a character, so a paid response is longer than its content-length and cut off.',
    find: 'return end < body.length && last >= 0xd800 && last <= 0xdbff ? end - 1 : end;',
    replace: 'return last < 0 ? end - 1 : end;',
  },
]);

export const paidCallBugs: readonly MoneyBug[] = [
  ...settleBugs,
  ...giveBackBugs,
  ...enterBugs,
  ...fallbackListBugs,
  ...reservationBugs,
  ...pumpBugs,
  ...streamBugs,
  ...textBugs,
  ...deadlineBugs,
  ...leftBugs,
  ...abortBugs,
  ...textLengthBugs,
];
