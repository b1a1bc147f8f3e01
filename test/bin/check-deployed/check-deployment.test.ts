import { EventEmitter } from 'node:events';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { stepNames } from '../../../lambdas/checks/deployment-steps.ts';
import { checkAccounts } from '../../../lambdas/core/accounts/check-account.ts';
import { hashApiKey, isApiKey } from '../../../lambdas/core/accounts/keys.ts';
import { hasDynamodb } from '../../support/dynamodb.ts';
import { runHere } from '../../support/scripted-terminal.ts';
import { BOT_TOKEN, CANARY_SECRET, type Intercept, openDeployedScene, READ_ONLY_SECRET } from './deployed-scene.ts';

const { deployment, canary } = checkAccounts;
const apiKeyIn = ({ headers }: RequestInit): string =>
  new Headers(headers).get('authorization')?.replace('Bearer ', '') ?? '';

describe.skipIf(!hasDynamodb)('check:deployed', () => {
  let scene: Awaited<ReturnType<typeof openDeployedScene>>;
  beforeAll(async () => {
    scene = await openDeployedScene();
    for (const [name, value] of Object.entries(scene.variables)) vi.stubEnv(name, value);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await scene.stop();
  });

  /** Whether the API key works at the gateway. */
  const works = async (apiKey: string): Promise<boolean> => {
    const key = await scene.stores.keys.read(hashApiKey(scene.gateway.pepper, apiKey));
    return key?.status === 'active';
  };
  const noted =
    (keys: Set<string>, change: Intercept = () => undefined): Intercept =>
    (url, init) => {
      const apiKey = apiKeyIn(init);
      if (apiKey !== '') keys.add(apiKey);
      return change(url, init);
    };

  test('OPS-13 the command prints one line per step, and leaves no working key and no secret', async () => {
    const keys = new Set<string>();
    const run = await scene.check('dev --stream', noted(keys));
    expect([run.stdout.split('\n').filter((line) => !line.startsWith('ok ')), run.status]).toEqual([[''], 0]);
    expect(
      run.stdout
        .trim()
        .split('\n')
        .map((line) => line.slice(9, 22).trim()),
    ).toEqual(stepNames);
    expect(run.stdout).toContain('2 function URLs refuse');
    expect(run.stdout).toContain('the address of this machine');
    const [apiKey = '', ...others] = keys;
    expect([isApiKey(apiKey), others, await works(apiKey)]).toEqual([true, [], false]);
    for (const secret of [apiKey, BOT_TOKEN, scene.gateway.pepper])
      expect(run.stdout + run.stderr).not.toContain(secret);
    expect(scene.gateway.output()).not.toContain(apiKey);
  });

  test('OPS-13 without --stream the command charges nothing, and --json has every step', async () => {
    const before = await scene.stores.ledgerStore.readAccount(deployment);
    const run = await scene.check('dev --json');
    const { ok, steps } = JSON.parse(run.stdout);
    expect([run.status, ok, steps.length]).toEqual([0, true, stepNames.length]);
    expect(steps.find((step: { name: string }) => step.name === 'streamed chat')).toMatchObject({
      status: 'skipped',
      detail: 'costs money. Add --stream',
    });
    expect((await scene.stores.ledgerStore.readAccount(deployment))?.spentPicos).toBe(before?.spentPicos);
  });

  test('OPS-13 a failed step exits with 1, the other steps run, and the key is revoked', async () => {
    const keys = new Set<string>();
    const broken: Intercept = ({ pathname, hostname }) =>
      pathname === '/health' && hostname === 'gateway.example' ? new Response('', { status: 502 }) : undefined;
    const run = await scene.check('dev', noted(keys, broken));
    expect([run.status, run.stderr.trim().split('\n').length]).toEqual([1, 1]);
    expect(run.stdout).toMatch(/^failed +health +\d+ ms {2}Expected 200 .*, found status 502\. Check the public URL/m);
    expect(run.stdout).toMatch(/^ok +pages +\d+ ms /m);
    for (const apiKey of keys) expect(await works(apiKey)).toBe(false);
  });

  test('OPS-13 an interrupt ends the command, revokes the key and removes the listeners', async () => {
    const interrupts = new EventEmitter();
    const keys = new Set<string>();
    const interrupting: Intercept = ({ pathname }) => {
      if (pathname === '/api/models') interrupts.emit('SIGINT');
      return undefined;
    };
    const run = await scene.check('dev', noted(keys, interrupting), interrupts);
    expect([run.status, run.stderr]).toEqual([
      1,
      expect.stringContaining('Interrupted. The API key of the check is revoked.'),
    ]);
    expect(run.stdout).not.toContain('pages');
    expect((await scene.stores.keys.currentKey(deployment))?.isRevoked).toBe(true);
    expect(interrupts.eventNames()).toEqual([]);
  });

  test('OPS-13 accounts list leaves out the accounts of checks without --checks', async () => {
    await scene.gateway.issue({ accountId: 'customer' });
    const list = async (...more: string[]) =>
      JSON.parse(
        (await runHere(['accounts', 'list', '--env', 'dev', '--json', ...more], scene.environment)).stdout,
      ).data.map(({ id }: { id: string }) => id);
    expect(await list()).toEqual(['customer']);
    expect(await list('--checks')).toContain(deployment);
  });

  test('OPS-13 the command stores the API key of the canary once, and replaces a revoked one', async () => {
    expect(scene.secrets[CANARY_SECRET]).toBe('the generated value of the secret');
    scene.data.canaryKeySecretArn = CANARY_SECRET;
    const first = await scene.check('dev');
    const key = scene.secrets[CANARY_SECRET] ?? '';
    expect([first.status, isApiKey(key), await works(key)]).toEqual([0, true, true]);
    expect(first.stderr).toContain('Stored a new API key for the canary');
    expect((await scene.stores.ledgerStore.readAccount(canary))?.creditedPicos).toBe(0n);
    expect((await scene.check('dev')).stderr).not.toContain('canary');
    expect(scene.secrets[CANARY_SECRET]).toBe(key);
    const revoke = ['keys', 'revoke', canary, '--env', 'dev', '--reason', 'x', '--yes'];
    expect((await runHere(revoke, scene.environment)).status).toBe(0);
    await scene.check('dev');
    const second = scene.secrets[CANARY_SECRET] ?? '';
    expect([second === key, await works(key), await works(second)]).toEqual([false, false, true]);
    expect(first.stdout + first.stderr).not.toContain(key);
  });

  test('OPS-13 a key of the canary that cannot be stored is revoked', async () => {
    scene.data.canaryKeySecretArn = READ_ONLY_SECRET;
    const run = await scene.check('dev');
    expect([run.status, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toContain('The API key of the canary cannot be stored');
    expect((await scene.stores.keys.currentKey(canary))?.isRevoked).toBe(true);
    delete scene.data.canaryKeySecretArn;
  });

  test('OPS-13 an environment without provider keys and bot skips the steps that need them', async () => {
    const { 'arn:keys': keys, 'arn:bot': bot } = scene.secrets;
    Object.assign(scene.secrets, { 'arn:keys': '{}', 'arn:bot': 'the generated value' });
    const run = await scene.check('dev --stream');
    Object.assign(scene.secrets, { 'arn:keys': keys, 'arn:bot': bot });
    expect(run.status).toBe(0);
    const skipped = [...run.stdout.matchAll(/^skipped {2}(.{13}) +0 ms {2}(.*)$/gm)].map(([, name, why]) => [
      name?.trim(),
      why,
    ]);
    const reason = 'no provider key is stored';
    expect(skipped).toEqual([
      ['dry run', reason],
      ['client IP', reason],
      ['large body', reason],
      ['streamed chat', reason],
      ['bot', 'no bot token is stored'],
    ]);
  });

  test('OPS-12, OPS-13 the command compares the AWS account before any other call', async () => {
    const run = await scene.check('prod');
    expect([run.status, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toMatch(/^environments\.prod\.account: not set\. /);
  });

  test.each([
    ['no environment', ''],
    ['an unknown environment', 'production'],
    ['an unknown option', 'dev --fast'],
  ])('OPS-13 a check with %s exits with 2, the status for wrong usage', async (_what, args) => {
    const run = await scene.check(args);
    expect([run.status, run.stdout]).toEqual([2, '']);
  });
});
