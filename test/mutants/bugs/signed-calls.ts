import { bugsIn, type MoneyBug } from './money-bug.ts';

const tests = 'test/lambdas/stores/dynamodb';
const callTests = `${tests}/signed-call.test.ts`;

const retryBugs = bugsIn('lambdas/stores/dynamodb/retries.ts', `${tests}/retries.test.ts`, [
  {
    id: 'hold-repeated-by-the-client',
    what: 'A client with one attempt asks the strategy, which can send a hold again.',
    find: '  if (max <= 1) return attempt(1, 1);\n',
    replace: '',
  },
  {
    id: 'throttled-charge-not-repeated',
    what: 'A charge record that a busy table refuses is not sent again.',
    find: "if (status === 429 || throttlings.has(failure.name)) return 'THROTTLING';",
    replace: "if (status === 429) return 'THROTTLING';",
  },
]);

const callBugs = bugsIn('lambdas/stores/dynamodb/signed-call.ts', callTests, [
  {
    id: 'broken-response-is-a-write',
    what: 'A response that is cut off counts as a write, so a hold is used that the table may not have.',
    find: "throw Object.assign(error instanceof Error ? error : new Error('an invalid response'), { $metadata });",
    replace: 'return null;',
  },
  {
    id: 'refusal-is-a-write',
    what: 'An error with status 400 counts as a write.',
    find: 'if (statusCode < 300) return',
    replace: 'if (statusCode < 500) return',
  },
  {
    id: 'refused-item-lost',
    what: 'A failed condition loses the stored item, so a hold counts as one of an unknown account.',
    find: 'item: result?.Item',
    replace: 'item: undefined',
  },
]);

const sentBugs = bugsIn('lambdas/stores/dynamodb/signed-call.ts', `${tests}/dynamodb.test.ts`, [
  {
    id: 'sent-call-looks-unsent',
    what: 'An error after a call was sent counts as a programming error that wrote nothing.',
    find: 'throw asSent(error);',
    replace: 'throw error;',
  },
]);

const handlerBugs = bugsIn('lambdas/stores/dynamodb/http-handler.ts', callTests, [
  {
    id: 'checksum-ignored',
    what: 'A response that was damaged on its way counts, with whatever balance it shows.',
    find: 'Number(checksum) !== crc32(body)',
    replace: 'Number(checksum) < 0',
  },
]);

const bucketBugs = bugsIn('lambdas/stores/dynamodb/rate-bucket.ts', `${tests}/rate-bucket.test.ts`, [
  {
    id: 'used-bucket-forgotten',
    what: 'A process starts with the wrong branch for a key that it has used, which costs a further call.',
    find: 'seen?.tats.get(seen.id) ?? 0;',
    replace: '(seen ? 0 : 0);',
  },
]);

export const signedCallBugs: readonly MoneyBug[] = [
  ...retryBugs,
  ...callBugs,
  ...sentBugs,
  ...handlerBugs,
  ...bucketBugs,
];
