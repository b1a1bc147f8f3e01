import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { environmentNames, environments } from '../../lib/environments.ts';
import { readManifest } from '../architecture/package-rules.ts';
import { repository } from '../architecture/read-imports.ts';
import { type Job, jobsOf, readWorkflows } from './read-workflows.ts';

const workflows = readWorkflows();
const jobs = jobsOf(workflows);
const jobOf = (path: string, id: string): Job => {
  const job = jobs.get(`.github/workflows/${path} ${id}`);
  if (!job) throw new Error(`${path} has no job ${id}`);
  return job;
};

const CREDENTIALS = 'aws-actions/configure-aws-credentials@';
/** Jobs that get AWS credentials. */
const withCredentials = [...jobs].filter(([, { steps }]) => steps.some(({ uses }) => uses?.startsWith(CREDENTIALS)));
const runsOf = ({ steps }: Job): readonly string[] => steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
const pathsOf = (found: readonly (readonly [string, Job])[]): readonly string[] => found.map(([path]) => path);

test('OPS-14 every action is pinned to one commit, with its version as a comment', () => {
  const versions = new Map<string, Set<string>>();
  for (const { path, source } of workflows)
    for (const [line, action = '', pin = ''] of source.matchAll(/^.*\buses: ([^@\s]+)(.*)$/gm)) {
      expect(pin, `${path}: ${line}`).toMatch(/^@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
      versions.set(action, (versions.get(action) ?? new Set()).add(pin));
    }
  expect([...versions.keys()].toSorted()).toEqual([
    'actions/checkout',
    'actions/setup-node',
    'aws-actions/configure-aws-credentials',
  ]);
  for (const [action, pins] of versions) expect([...pins], action).toHaveLength(1);
});

test('OPS-14 a workflow may read the repository and nothing else', () => {
  for (const { path, permissions } of workflows) expect(permissions, path).toEqual({ contents: 'read' });
  const others = [...jobs].filter(([, { permissions }]) => permissions !== undefined);
  expect(Object.fromEntries(others.map(([path, { permissions }]) => [path, permissions]))).toEqual({
    ...Object.fromEntries(pathsOf(withCredentials).map((path) => [path, { contents: 'read', 'id-token': 'write' }])),
    '.github/workflows/deploy.yml approval': { actions: 'read' },
  });
});

test('OPS-14 no workflow uses a stored secret, or runs with rights for the code of a fork', () => {
  for (const { path, source, on } of workflows) {
    expect(source, path).not.toMatch(/\bsecrets\b/);
    expect(Object.keys(on), path).not.toContain('pull_request_target');
    expect(Object.keys(on), path).not.toContain('workflow_run');
  }
  for (const [path, job] of jobs) {
    // An expression in a script would be run as code.
    for (const run of runsOf(job)) expect(run, path).not.toContain('${{');
    for (const { uses, with: inputs } of job.steps)
      if (uses?.startsWith('actions/checkout@')) expect(inputs, path).toMatchObject({ 'persist-credentials': false });
  }
});

test('OPS-14 a pull request gets credentials only from a branch of the repository', () => {
  const { on } = workflows.find(({ path }) => path.endsWith('/pull-request.yml')) ?? {};
  expect(Object.keys(on ?? {})).toEqual(['pull_request']);
  const synth = jobOf('pull-request.yml', 'synth');
  expect([synth.if, runsOf(synth)]).toEqual([undefined, ['npm ci', 'npm run synth']]);
  const diff = jobOf('pull-request.yml', 'diff');
  expect(diff.if?.split(' && ')).toEqual([
    "vars.AWS_ACCOUNT_DEV != ''",
    'github.event.pull_request.head.repo.full_name == github.repository',
    "github.event.pull_request.user.login != 'dependabot[bot]'",
  ]);
  expect(runsOf(diff).at(-1)).toBe("npx cdk diff 'dev/*' -c environment=dev --method=template");
});

test('OPS-14 only these jobs get credentials, each for one role in the region of its environment', () => {
  const rolesOf = ([path, { steps }]: readonly [string, Job]) => [
    path.replace('.github/workflows/', ''),
    steps.find(({ uses }) => uses?.startsWith(CREDENTIALS))?.with,
  ];
  const account = (name: string): string => `$\{{ vars.AWS_ACCOUNT_${name.toUpperCase()} }}`;
  const inputs = (name: 'dev' | 'staging' | 'prod', role: string) => ({
    'role-to-assume': `arn:aws:iam::${account(name)}:role/${role}`,
    'aws-region': environments[name].region,
  });
  expect(Object.fromEntries(withCredentials.map(rolesOf))).toEqual({
    'deploy.yml dev': inputs('dev', 'gateway-dev-github'),
    'deploy.yml staging': inputs('staging', 'gateway-staging-github'),
    'deploy.yml prod': inputs('prod', 'gateway-prod-github'),
    'pull-request.yml diff': inputs('dev', 'gateway-dev-github-diff'),
  });
});

test('OPS-14 a job installs packages before it gets credentials', () => {
  for (const [path, { steps }] of withCredentials) {
    const credentials = steps.findIndex(({ uses }) => uses?.startsWith(CREDENTIALS));
    expect(
      steps.findIndex(({ run }) => run === 'npm ci'),
      path,
    ).toBeLessThan(credentials);
  }
});

test('OPS-14 main deploys dev, and a tag deploys staging and then prod, after tests and an approval', () => {
  const { on } = workflows.find(({ path }) => path.endsWith('/deploy.yml')) ?? {};
  expect(on).toEqual({ push: { branches: ['main'], tags: ['v*'] } });
  const needs = (id: string) => jobOf('deploy.yml', id).needs;
  expect({ dev: needs('dev'), approval: needs('approval'), staging: needs('staging'), prod: needs('prod') }).toEqual({
    dev: 'test',
    approval: 'test',
    staging: 'approval',
    prod: 'staging',
  });
  expect(jobOf('deploy.yml', 'dev').if).toBe("github.ref == 'refs/heads/main'");
  expect(jobOf('deploy.yml', 'approval').if).toBe("startsWith(github.ref, 'refs/tags/v')");
  expect(runsOf(jobOf('deploy.yml', 'test'))).toEqual([
    'git merge-base --is-ancestor "$GITHUB_SHA" origin/main',
    'npm ci',
    'npm test',
  ]);
  for (const name of environmentNames) {
    const job = jobOf('deploy.yml', name);
    // The rules of the environment, such as required reviewers, apply before the job starts.
    expect([job.environment, job.concurrency]).toEqual([name, { group: `deploy-${name}` }]);
    // A condition such as always() would ignore a failed job.
    if (name !== 'dev') expect(job.if, name).toBeUndefined();
    expect(runsOf(job).at(-1)).toBe(`npm run deploy -- ${name} --no-check -- --require-approval never`);
  }
});

test('every command of a workflow exists', () => {
  const { scripts, devDependencies } = readManifest();
  const runs = [...jobs.values()].flatMap(runsOf);
  const found = (pattern: RegExp) => runs.flatMap((run) => [...run.matchAll(pattern)].map(([, name = '']) => name));
  expect(runs.length).toBeGreaterThan(15);
  for (const name of found(/\bnpm run ([\w:-]+)/g)) expect(Object.keys(scripts)).toContain(name);
  for (const name of found(/\bnpm (test|start)\b/g)) expect(Object.keys(scripts)).toContain(name);
  // The package aws-cdk has the command cdk.
  for (const name of found(/\bnpx ([\w-]+)/g)) expect(Object.keys(devDependencies)).toContain(`aws-${name}`);
  for (const path of found(/\bbash (\S+)/g)) expect(existsSync(join(repository, path)), path).toBe(true);
});
