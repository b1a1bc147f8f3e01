import { bugsIn } from './money-bug.ts';

const callerTests = 'test/bin/caller.test.ts';
const programTests = 'test/bin/program.test.ts';
const preflightTests = 'test/bin/deploy/preflight.test.ts';
const pinTests = 'test/bin/deploy/pin-account.test.ts';
const deployTests = 'test/bin/deploy.long.test.ts';
const triggerTests = 'test/bin/deploy/rollback-triggers.test.ts';
const aliasTests = 'test/lib/constructs/live-alias.test.ts';
const checkTests = 'test/bin/deploy/account-checks.test.ts';

/** Mistakes of the commands that change a deployed environment. */
export const deploymentBugs = [
  ...bugsIn('bin/caller.ts', callerTests, [
    {
      id: 'another-account-accepted',
      what: 'Commands change an environment of another AWS account.',
      find: "if (allowed === 'any' || allowed === caller.account) return caller;",
      replace: 'if (allowed) return caller;',
    },
    {
      id: 'no-account-accepted',
      what: 'An environment whose AWS account is not set can be deployed to any account.',
      find: 'if (account !== undefined) return account;',
      replace: "if (account !== null) return account ?? 'any';",
    },
  ]),
  ...bugsIn('bin/program.ts', programTests, [
    {
      id: 'commands-without-account-guard',
      what: 'The command line does not compare the AWS account before it changes money.',
      find: 'if (env !== undefined) await guardAccount(env, terminal);',
      replace: 'if (env === undefined) await Promise.resolve();',
    },
  ]),
  ...bugsIn('bin/deploy/preflight.ts', preflightTests, [
    {
      id: 'old-bootstrap-accepted',
      what: 'A deployment starts although the CDK bootstrap is too old, and fails halfway.',
      find: 'if (Number(version) >= bootstrap.versionMin) return undefined;',
      replace: 'if (Number(version) > 0) return undefined;',
    },
    {
      id: 'preflight-with-callers-rights',
      what: 'The preflight needs more rights than the deployment.',
      find: '{ region, credentials: credentialsOf(role) });\n  const command',
      replace: '{ region });\n  const command',
    },
    {
      id: 'denied-check-stops',
      what: 'A check for which the roles lack permission stops a deployment that would succeed.',
      find: 'if (!isDenied(error)) return [',
      replace: 'if (error) return [',
    },
  ]),
  ...bugsIn('bin/deploy/pin-account.ts', pinTests, [
    {
      id: 'asset-account-not-pinned',
      what: 'cdk uploads assets to the account of its own credentials, not to the checked one.',
      find: "if (type === 'cdk:asset-manifest') pin(properties.file);",
      replace: "if (type === 'cdk:asset-manifest') properties.file.trim();",
    },
  ]),
  ...bugsIn('bin/deploy/run-deployment.ts', deployTests, [
    {
      id: 'assembly-not-pinned',
      what: 'cdk deploys to the account of its own credentials, which was not checked.',
      find: '  pinAccount(synthesis.assembly, caller.account);\n',
      replace: '',
    },
  ]),
  ...bugsIn('bin/deploy/rollback-triggers.ts', triggerTests, [
    {
      id: 'missing-alarm-is-a-trigger',
      what: 'A deployment fails, because CloudFormation watches an alarm that does not exist.',
      find: 'if (!names.every((each) => there.has(each))) {',
      replace: 'if (!names.some((each) => there.has(each))) {',
    },
    {
      id: 'fix-of-an-alarm-rolled-back',
      what: 'A deployment that fixes a money alarm is rolled back for it, although the operator ignores alarms.',
      find: 'if (rollbackMinutes === undefined || ignoresAlarms) return noTriggers;',
      replace: 'if (rollbackMinutes === undefined) return noTriggers;',
    },
  ]),
  ...bugsIn('lib/constructs/live-alias.ts', aliasTests, [
    {
      id: 'shift-without-money-alarms',
      what: 'A shift to a new version goes on while a money alarm is on.',
      find: 'alarms: [failing, ...this.#moneyAlarms(prefix)],',
      replace: 'alarms: [failing],',
    },
  ]),
  ...bugsIn('bin/deploy/account-checks.ts', checkTests, [
    {
      id: 'reserve-without-the-rest',
      what: 'Reserved concurrency that AWS rejects passes the preflight.',
      find: 'if (value < reserved + UNRESERVED_MIN)',
      replace: 'if (value < reserved)',
    },
    {
      id: 'bootstrap-key-not-compared',
      what: 'A deployment starts although the copier of code cannot decrypt the assets, and fails halfway.',
      find: 'if (key === undefined || isKey(key, environment.bootstrapKeyArn)) return;',
      replace: 'if (key === undefined || isKey(key, key)) return;',
    },
  ]),
];
