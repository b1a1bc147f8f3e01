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

const localBugs = bugsIn('local/local-webhooks.ts', 'test/local/local-webhooks.test.ts', [
  {
    id: 'webhook-to-every-local-port',
    what: 'Without the setting, a webhook reaches other servers of the machine.',
    find: 'parsed.pathname === INBOX_PATH : allowsOtherPorts;',
    replace: 'parsed.pathname === INBOX_PATH : true;',
  },
  {
    id: 'webhook-to-loopback-in-another-form',
    what: 'With the setting, every spelling of a loopback URL is accepted.',
    find: ' || !machineUrl.test(text)',
    replace: ' || !machineHosts.has(parsed.hostname)',
  },
]);

const localSettingBugs = bugsIn('local/local-settings.ts', 'test/local/local-settings.test.ts', [
  {
    id: 'local-webhooks-in-production',
    what: 'A gateway in production starts with the setting for webhooks to its own machine.',
    find: 'if (fields.LOCAL_WEBHOOKS !== undefined) {',
    replace: 'if (fields.LOCAL_WEBHOOKS === null) {',
  },
]);

const inboxBugs = bugsIn('local/page/ui/webhook-signature.ts', 'test/local/page/ui/webhook-signature.test.ts', [
  {
    id: 'webhook-signature-by-its-start',
    what: 'The inbox shows a forged delivery as valid, because it compares the start of the signature.',
    find: 'sent.some((one) => one === expected)',
    replace: 'sent.some((one) => one.slice(0, 24) === expected.slice(0, 24))',
  },
]);

export const webhookBugs: readonly MoneyBug[] = [
  ...deliveryBugs,
  ...secretBugs,
  ...testBugs,
  ...senderBugs,
  ...localBugs,
  ...localSettingBugs,
  ...inboxBugs,
];
