import { bugsIn, type MoneyBug } from './money-bug.ts';

const histories = 'test/lambdas/core/videos/video-job-histories.test.ts';
const createTests = 'test/lambdas/core/videos/create-video.test.ts';
const endTests = 'test/lambdas/core/videos/finish-video-end.test.ts';
const pollTests = 'test/lambdas/core/videos/poll-video.test.ts';
const priceTests = 'test/lambdas/core/videos/video-price.test.ts';
const resumeTests = 'test/lambdas/core/videos/resume-videos.test.ts';
const standingTests = 'test/lambdas/core/videos/existing-video.test.ts';
const storeTests = 'test/lambdas/core/videos/finish-video-store-video.test.ts';

const endBugs = bugsIn('lambdas/core/videos/finish-video.ts', histories, [
  {
    id: 'video-completed-for-its-file',
    what: 'A video is completed because its file exists, even if it is not charged.',
    find: "if (record.outcome === 'settled') {",
    replace: 'if (record && job.file) {',
    caughtBy: endTests,
  },
  {
    id: 'video-leaves-money-held',
    what: 'An ended video keeps its hold until the sweeper runs.',
    find: 'await apply(ledger, record, job.holdAmountPicos);',
    replace: 'await Promise.resolve(apply);',
    caughtBy: endTests,
  },
]);

const chargeBugs = bugsIn('lambdas/core/videos/finish-video.ts', histories, [
  {
    id: 'video-completed-after-a-release',
    what: 'A video whose hold was released in the meantime is completed for free.',
    find: 'await endVideo(deps, job, record);',
    replace: "await endVideo(deps, job, { ...record, outcome: 'settled' });",
    caughtBy: endTests,
  },
  {
    id: 'video-charged-without-a-record',
    what: 'The last step completes a video without a record of its charge or release.',
    find: 'if (!record) throw new Error(`$' + '{videoId} must be ended and its hold has no record`);',
    replace:
      "if (!record) await deps.jobs.end(videoId, { state: 'completed', completedAtMs: 0 });\n  if (!record) return { webhook: false };",
    caughtBy: endTests,
  },
  {
    id: 'video-of-a-released-hold-reported-as-charged',
    what: 'A charge after the release of its hold is not detected.',
    find: "if (record.outcome !== 'settled') return",
    replace: "if (record.outcome !== 'settled' && !record) return",
    caughtBy: endTests,
  },
]);

const releaseBugs = bugsIn('lambdas/core/videos/finish-video.ts', histories, [
  {
    id: 'video-failed-after-its-charge',
    what: 'A release step after the charge fails a paid video.',
    find: 'await endVideo(deps, (await read()) ?? job, record);',
    replace: "await endVideo(deps, (await read()) ?? job, { ...record, outcome: 'released' });",
    caughtBy: endTests,
  },
]);

const storeBugs = bugsIn('lambdas/core/videos/finish-video.ts', histories, [
  {
    id: 'video-charged-before-its-file-is-stored',
    what: 'A file is recorded and charged, but never stored in the bucket.',
    find: 'await files.put(name, taken.bytes);',
    replace: 'await Array.fromAsync(taken.bytes, () => files);',
  },
  {
    id: 'video-cut-short-is-charged',
    what: 'A truncated file counts as the video.',
    find: 'if (length !== undefined && size !== length)',
    replace: 'if (length !== undefined && size > length)',
    caughtBy: storeTests,
  },
  {
    id: 'video-file-replaced-by-a-late-attempt',
    what: 'An attempt that the workflow has abandoned overwrites the charged file.',
    find: 'const name = `$' + '{videoId}/$' + '{attemptName(ledger)}`;',
    replace: 'const name = videoId;',
    caughtBy: storeTests,
  },
]);

const pollBugs = bugsIn('lambdas/core/videos/poll-video.ts', pollTests, [
  {
    id: 'video-straight-from-queued-to-completed',
    what: 'A video that is already complete at its first poll is never in progress, and its provider id can still change.',
    find: `await retryUntilDefinite(ledger, () =>
        jobs.advance(videoId, status.kind === 'running' ? status.progress : undefined),
      );`,
    replace: "if (status.kind === 'running') await jobs.advance(videoId, status.progress);",
    caughtBy: histories,
  },
  {
    id: 'video-never-begun-waits-for-ever',
    what: 'A video whose creator crashed keeps its hold for an hour.',
    find: "return isYoung ? as('running') : failsWith(neverBegun);",
    replace: "return isYoung || neverBegun ? as('running') : failsWith(neverBegun);",
  },
  {
    id: 'video-fails-for-a-silent-provider',
    what: 'One poll without a response fails a video that the provider is still creating.',
    find: "if (error instanceof GatewayError) return { kind: 'unknown' };",
    replace: "if (error instanceof GatewayError) return { kind: 'gone' };",
  },
]);

const beginBugs = bugsIn('lambdas/core/videos/create-video.ts', createTests, [
  {
    id: 'video-of-a-given-up-creation-promised',
    what: 'A creation returns success although its video was abandoned in the meantime.',
    find: 'if (await retryUntilDefinite(deps.ledger, () => deps.jobs.setUpstream(record.id, upstreamId, credentialId))) return;',
    replace:
      'await retryUntilDefinite(deps.ledger, () => deps.jobs.setUpstream(record.id, upstreamId, credentialId));\n    return;',
  },
  {
    id: 'video-of-a-refused-creation-listed',
    what: 'A failed creation leaves its video in the list.',
    find: 'if (await refuse()) return true;',
    replace: 'if (await Promise.resolve(failure)) return true;',
  },
  {
    id: 'video-begun-without-an-execution',
    what: 'The provider creates a video that no workflow completes.',
    find: 'await inStoreTime(deps, storeTime, () => deps.machine.start(record.id))',
    replace: "await deps.machine.start(record.id).catch(() => 'running')",
  },
  {
    id: 'given-up-creation-retried',
    what: 'A creation whose request has failed is sent again.',
    find: 'retryUntilDefinite(ledger, call, storeTime?.leftMs)',
    replace: 'retryUntilDefinite(ledger, call)',
  },
  {
    id: 'video-of-an-equal-id-continued',
    what: 'A request continues the video of another account whose request has an equal id.',
    find: 'isSameCreation(reply.job, record)',
    replace: 'reply.job.holdId === record.holdId',
  },
  {
    id: 'circuit-blamed-for-a-job-record',
    what: 'A creation that fails before its provider call counts toward the circuit of the provider.',
    find: 'await beforeCall(permit, async () => {',
    replace: 'await (async (call: () => Promise<void>) => call())(async () => {',
  },
  {
    id: 'failed-creation-not-withdrawn',
    what: 'A failed creation releases its hold, but its video can still be created for free.',
    find: '(mayStand ? withdraw(deps, caller, idempotent, error) : error)',
    replace: '(mayStand && !withdraw ? undefined : error)',
  },
  {
    id: 'withdrawal-without-a-limit',
    what: 'The error of a failed creation waits for a store without replies.',
    find: 'await limited(deps.ledger.clock, WITHDRAW_LIMIT_MS, withdrawing)',
    replace: 'await withdrawing',
  },
  {
    id: 'key-freed-beside-a-possible-video',
    what: 'A claim is freed although its job record may exist: two requests get two videos.',
    find: 'mayStand = true;\n      await commitCreation(deps, beginning);',
    replace: 'await commitCreation(deps, beginning);\n      mayStand = true;',
    caughtBy: standingTests,
  },
  {
    id: 'key-freed-beside-a-video-not-refused',
    what: 'A claim is freed although its video could not be refused: two requests get two videos.',
    find: 'idempotent?.claimed.abandon();\n    if (!(cause instanceof StoreError)) throw cause;',
    replace: 'if (!(cause instanceof StoreError)) throw cause;',
    caughtBy: standingTests,
  },
  {
    id: 'late-creation-not-prevented',
    what: 'A creation that lands after its request has failed is listed as a video.',
    find: 'const { kind } = await retryUntilDefinite(ledger, () => jobs.abandon(videoId));',
    replace: "const { kind } = { kind: 'abandoned' as string };",
  },
  {
    id: 'creation-landed-meanwhile-listed',
    what: 'A creation that lands during its withdrawal is listed as a video.',
    find: " || (kind === 'exists' && (await refuse()))",
    replace: " || kind === 'exists'",
  },
]);

const standingBugs = bugsIn('lambdas/core/videos/existing-video.ts', histories, [
  {
    id: 'take-over-closes-no-video',
    what: 'A takeover looks for a video but does not prevent a later one: one idempotency key creates two.',
    find: 'const reply = await retryUntilDefinite(deps.ledger, () => deps.jobs.abandon(videoIdOf(requestId)));',
    replace:
      "const present = await retryUntilDefinite(deps.ledger, () => deps.jobs.read(videoIdOf(requestId)));\n      const reply: AbandonReply = present ? { kind: 'exists', job: present } : { kind: 'abandoned' };",
    caughtBy: standingTests,
  },
  {
    id: 'take-over-promises-a-video-not-begun',
    what: 'A takeover returns a video that its creator may still refuse.',
    find: 'if (!job.refused && !isEnded(job) && job.upstreamId === undefined) await endUnbegun(deps, job);',
    replace: 'await Promise.resolve(endUnbegun && isEnded);',
  },
  {
    id: 'lost-claim-promises-a-video-not-begun',
    what: 'A request that lost its claim returns its own video, and its refusal arrives later.',
    find: 'return job && (job.upstreamId !== undefined || isEnded(job)) ? standing(job) : undefined;',
    replace: 'return standing(job);',
    caughtBy: standingTests,
  },
  {
    id: 'take-over-of-a-creation-under-way',
    what: 'A takeover abandons a video that its provider is about to accept.',
    find: 'if (mayStillBegin(job, times, ledger.clock.now())) throw inProgress();',
    replace: '',
    caughtBy: standingTests,
  },
]);

const claimBugs = bugsIn('lambdas/core/idempotency/claim.ts', standingTests, [
  {
    id: 'take-over-passes-over-a-video',
    what: 'A takeover ignores the result of the old request and creates another one.',
    find: 'if (standing) return adoptExisting(deps, request, claim.owner, standing);',
    replace: 'await Promise.resolve(standing && adoptExisting);',
  },
]);

const resumeBugs = bugsIn('lambdas/core/videos/resume-videos.ts', resumeTests, [
  {
    id: 'video-left-behind-by-its-execution',
    what: 'A video whose execution crashed keeps its hold until it is overdue.',
    find: "(await machine.start(videoId)) === 'running'",
    replace: '(await machine.start(videoId)) !== undefined',
  },
]);

const newerBugs = bugsIn('lambdas/core/videos/video-job.ts', 'test/contracts/stored-shapes.contract.test.ts', [
  {
    id: 'newer-video-state-released',
    what: 'A video in a state of a newer release counts as in progress, and its hold is released.',
    find: 'if (isState(value)) return value;',
    replace: "if (value !== '') return isState(value) ? value : 'in_progress';",
  },
  {
    id: 'newer-video-unit-charged',
    what: 'A video with a unit of a newer release is charged by tokens.',
    find: "if (value === 'token' || value === 'second') return value;",
    replace: "if (value !== '') return value === 'second' ? value : 'token';",
  },
]);

const priceBugs = bugsIn('lambdas/core/videos/video-price.ts', priceTests, [
  {
    id: 'full-hd-at-the-lower-rate',
    what: 'Full HD is sold at the rate of smaller sizes.',
    find: 'Math.min(width, height) >= FULL_HD_EDGE',
    replace: 'Math.min(width, height) > FULL_HD_EDGE',
  },
  {
    id: 'video-without-its-first-frame',
    what: "The hold is smaller than the provider's count.",
    find: '(framesPerSecond * seconds + 1)',
    replace: '(framesPerSecond * seconds)',
  },
  {
    id: 'any-count-of-tokens-charged',
    what: 'An implausible count is charged in full.',
    find: 'BigInt(Math.min(tokens ?? 0, unitsMax))',
    replace: 'BigInt(tokens ?? 0)',
  },
]);

export const videoBugs: readonly MoneyBug[] = [
  ...endBugs,
  ...chargeBugs,
  ...releaseBugs,
  ...storeBugs,
  ...pollBugs,
  ...beginBugs,
  ...standingBugs,
  ...claimBugs,
  ...resumeBugs,
  ...newerBugs,
  ...priceBugs,
];
