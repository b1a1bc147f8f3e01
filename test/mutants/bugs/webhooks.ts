import { bugsIn, type MoneyBug } from './money-bug.ts';

const endTests = 'test/lambdas/core/videos/finish-video-end.test.ts';
const secretTests = 'test/lambdas/core/accounts/webhook-secret.test.ts';
const senderTests = 'test/lambdas/providers/webhook.test.ts';
const handlerTests = 'test/lambdas/protocols/webhooks/handlers.test.ts';

const deliveryBugs = bugsIn('lambdas/core/videos/finish-video.ts', endTests, [
  {
    id: 'accepted-webhook-repeated',
    what: 'A repeated step delivers an event again that the client has accepted.',
    find: 'if (job.delivery && isDelivered(job.delivery)) return;',
    replace: '',
  },
  {
    id: 'webhook-repeated-for-its-record',
    what: 'An event is delivered again if its result cannot be stored.',
    find: 'jobs.noteDelivery(videoId, delivery)).catch(ignoreStore);',
    replace: 'jobs.noteDelivery(videoId, delivery));',
  },
]);

const secretBugs = bugsIn('lambdas/core/accounts/webhook-secret.ts', secretTests, [
  {
    id: 'webhook-secret-of-the-loser',
    what: 'A rotation that came second shows a secret that no delivery is signed with.',
    find: 'if (await retryUntilDefinite(deps, () => deps.webhookSecrets.put(accountId, secret))) return secret;',
    replace: 'await retryUntilDefinite(deps, () => deps.webhookSecrets.put(accountId, secret));\n  return secret;',
  },
  {
    id: 'webhook-secret-rotated-twice',
    what: 'A repeated rotation replaces the new secret, and receivers with the first one reject every event.',
    find: 'if (version < before.version) return before;',
    replace: '',
  },
  {
    id: 'replaced-webhook-secret-signs-forever',
    what: 'A secret that leaked still signs after its rotation.',
    find: 'previous && nowMs < previous.untilMs ? [secret',
    replace: 'previous ? [secret',
  },
]);

const testBugs = bugsIn('lambdas/protocols/webhooks/handlers.ts', handlerTests, [
  {
    id: 'webhook-test-without-limit',
    what: 'An account can send test events to a stranger without a limit of its own.',
    find: 'await limitTests(testLimit, accountId);',
    replace: '',
  },
  {
    id: 'webhook-test-to-any-url',
    what: 'A test event goes to a URL that a video could not name.',
    find: 'const problem = check(url);',
    replace: 'const problem = check(url) && undefined;',
  },
]);

const senderBugs = bugsIn('lambdas/providers/webhook.ts', senderTests, [
  {
    id: 'webhook-signed-with-one-secret',
    what: 'After a rotation, receivers with the replaced secret reject every event.',
    find: 'signEvent(secrets, {',
    replace: 'signEvent(secrets.slice(0, 1), {',
  },
]);

export const webhookBugs: readonly MoneyBug[] = [...deliveryBugs, ...secretBugs, ...testBugs, ...senderBugs];
