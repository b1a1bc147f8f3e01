import { bugsIn } from './money-bug.ts';

const keyTests = 'test/bin/check-deployed/check-key.test.ts';
const commandTests = 'test/bin/check-deployed/check-deployment.test.ts';
const stepTests = 'test/lambdas/checks/deployment-steps.test.ts';
const marginTests = 'test/lambdas/core/paid-call/dependencies.test.ts';
const canaryTests = 'test/lambdas/functions/wiring/canary-handler.test.ts';

/** Mistakes of the check of a deployment and of the canary. */
export const deploymentCheckBugs = [
  ...bugsIn('bin/check-deployed/check-key.ts', keyTests, [
    {
      id: 'check-key-left-working',
      what: 'The API key of a check works after the check.',
      find: 'await revokeActive(place, accountId).catch(',
      replace: 'await Promise.resolve(accountId).catch(',
    },
    {
      id: 'check-money-grows',
      what: 'Every check adds money to its account.',
      find: 'const amountPicos = MONEY_PICOS - (account?.availablePicos ?? 0n);',
      replace: 'const amountPicos = account ? MONEY_PICOS : 0n;',
    },
  ]),
  ...bugsIn('bin/check-deployed/canary-key.ts', commandTests, [
    {
      id: 'canary-key-lost-but-working',
      what: 'An API key of the canary that could not be stored works forever.',
      find: 'await revokeActive(place, checkAccounts.canary);',
      replace: '',
    },
    {
      id: 'canary-key-revoked-but-kept',
      what: 'The canary keeps an API key that is revoked, and fails until an operator finds out why.',
      find: 'isApiKey(stored) && current?.isRevoked === false &&',
      replace: 'isApiKey(stored) && current !== undefined &&',
    },
  ]),
  ...bugsIn('bin/check-deployed/check-deployment.ts', commandTests, [
    {
      id: 'failed-check-exits-with-0',
      what: 'A deployment whose check failed counts as successful.',
      find: 'if (!isWell) throw unsatisfied();',
      replace: '',
    },
  ]),
  ...bugsIn('bin/commands/accounts.ts', commandTests, [
    {
      id: 'checks-among-customers',
      what: 'The list of accounts counts the money of checks as money of customers.',
      find: 'if (!checks && isCheckAccount(id)) continue;',
      replace: '',
    },
  ]),
  ...bugsIn('bin/commands/keys.ts', keyTests, [
    {
      id: 'customer-with-an-id-of-checks',
      what: 'A customer gets an account that reports leave out.',
      find: 'if (isCheckAccount(accountId)) throw misused(',
      replace: 'if (accountId === undefined) throw misused(',
    },
  ]),
  ...bugsIn('lambdas/core/paid-call/dependencies.ts', marginTests, [
    {
      id: 'margin-of-checks',
      what: 'The margin of a model includes the requests of checks.',
      find: ' && !isCheckAccount(accountId)',
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/protocols/paid-response.ts', stepTests, [
    {
      id: 'client-ip-for-every-account',
      what: 'Every dry run shows the client IP that the gateway sees.',
      find: 'admission && isCheckAccount(admission.accountId)',
      replace: 'admission',
    },
  ]),
  ...bugsIn('lambdas/checks/deployment-steps.ts', stepTests, [
    {
      id: 'forged-client-ip-passes',
      what: 'The check passes although clients choose the IP address of their rate limit.',
      find: 'if (isComparable && own !== seen) throw',
      replace: 'if (isComparable && own === undefined) throw',
    },
    {
      id: 'direct-access-passes',
      what: 'The check passes although clients can bypass CloudFront and its firewall.',
      find: "reply.status !== 403 || codeOf(reply) !== 'direct_access_refused'",
      replace: 'reply.status >= 500',
    },
  ]),
  ...bugsIn('lambdas/functions/wiring/canary-handler.ts', canaryTests, [
    {
      id: 'canary-well-without-its-steps',
      what: 'A run of the canary that its time limit ended counts as successful.',
      find: 'results.length === stepNames.length && ',
      replace: '',
    },
  ]),
];
