import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runDeployment } from '../../bin/deploy/run-deployment.ts';
import { createProgram } from '../../bin/program.ts';
import { createS3Client } from '../../lambdas/functions/wiring/clients.ts';
import { buildPages, type PageFile } from '../../lib/pages/build-pages.ts';
import { openDataFolder } from '../../local/data-folder.ts';
import { localMediaBucket, type S3StandIn, startS3 } from '../../local/emulators/s3.ts';
import { scriptedTerminal } from '../support/scripted-terminal.ts';
import type { CdkScript } from './fake-cdk.ts';

const fakeCdk = join(import.meta.dirname, './fake-cdk.ts');
const folder = mkdtempSync(join(tmpdir(), 'deploy-test-'));
let bucket: S3StandIn;
let pages: readonly PageFile[];
beforeAll(async () => {
  bucket = await startS3(openDataFolder(join(folder, 'data')));
  pages = await buildPages();
});
afterAll(() => bucket.stop());

const data = {
  mediaBucketName: localMediaBucket,
  providerKeysSecretArn: 'arn:provider-keys',
  botTokenSecretArn: 'arn:bot-token',
};
const outputs = { 'gateway-dev-data': data, 'gateway-dev-edge': { publicUrl: 'https://d1.cloudfront.net' } };
const credentials = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local-secret' };

let runs = 0;
const deploy = async (args: string, script: CdkScript, environment: Readonly<Record<string, string>> = {}) => {
  const path = join(folder, `script-${++runs}`);
  writeFileSync(path, JSON.stringify(script));
  const { terminal, written } = scriptedTerminal({ S3_ENDPOINT: bucket.endpoint, ...environment });
  const cdk = [process.execPath, fakeCdk, path];
  const status = await runDeployment(args.split(' '), { terminal, cdk });
  const calls = existsSync(`${path}.calls`) ? readFileSync(`${path}.calls`, 'utf8').trim().split('\n') : [];
  return { status, ...written, calls: calls.map((line): string[] => JSON.parse(line)) };
};

/** Runs `work` with these credential variables only: the SDK finds no others in the test process. */
const withCredentials = async <T>(variables: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> => {
  const nowhere = {
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  for (const [name, value] of Object.entries({ ...nowhere, ...variables })) vi.stubEnv(name, value);
  try {
    return await work();
  } finally {
    vi.unstubAllEnvs();
  }
};

const objects = async () => {
  const client = await createS3Client({ endpoint: bucket.endpoint, region: 'us-east-1' });
  try {
    const { Contents = [] } = await client.send(
      new ListObjectsV2Command({ Bucket: localMediaBucket, Prefix: 'pages/' }),
    );
    return await Promise.all(
      Contents.map(async ({ Key }) => {
        const { ContentType, Body } = await client.send(new GetObjectCommand({ Bucket: localMediaBucket, Key }));
        return { key: Key, type: ContentType, bytes: Buffer.from((await Body?.transformToByteArray()) ?? []) };
      }),
    );
  } finally {
    client.destroy();
  }
};

test('a deployment, and its repeat, creates the stacks, uploads the pages and prints next steps', async () => {
  for (const _ of ['once', 'and again']) {
    const run = await withCredentials(credentials, () =>
      deploy('dev -- --require-approval never', { exitCode: 0, outputs }),
    );
    expect([run.status, run.stderr]).toEqual([0, expect.stringContaining('Step 2 of 2: pages')]);
    expect(run.calls).toEqual([
      [
        'deploy',
        'dev/*',
        '-c',
        'environment=dev',
        '--outputs-file',
        expect.any(String),
        '--import-existing-resources',
        '--require-approval',
        'never',
      ],
    ]);
    const [args = []] = run.calls;
    expect(existsSync(args[args.indexOf('--outputs-file') + 1]!)).toBe(false);
    expect(run.stdout).toContain('https://d1.cloudfront.net/v1');
    expect(run.stdout).toContain(
      'aws secretsmanager put-secret-value --region us-east-1 --secret-id arn:provider-keys --secret-string file://',
    );
    const expected = pages.map(({ page, file, mediaType, bytes }) => ({
      key: `pages/${page}/${file}`,
      type: mediaType,
      bytes: Buffer.from(bytes),
    }));
    const byKey = (one: { key?: string | undefined }, other: { key?: string | undefined }) =>
      `${one.key}` < `${other.key}` ? -1 : 1;
    expect((await objects()).sort(byKey)).toEqual(expected.sort(byKey));
  }
});

test('the command line accepts every command that a deployment prints', async () => {
  const { stdout } = await withCredentials(credentials, () => deploy('dev', { exitCode: 0, outputs }));
  const lines = [...stdout.matchAll(/npm run cli -- (.*)/g)].map(([, line]) => line!);
  expect(lines).toHaveLength(4);
  for (const line of lines) {
    const args = (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
    const { terminal } = scriptedTerminal({}, true);
    const program = createProgram(terminal);
    const leaf = args.reduce(
      (command, word) => command.commands.find((each) => each.name() === word) ?? command,
      program,
    );
    const taken: unknown[] = [];
    leaf.action((...values: unknown[]) => void taken.push(values));
    await program.parseAsync(args, { from: 'user' });
    expect(taken, line).toHaveLength(1);
  }
});

test('a deployment without a front door prints the URLs of the functions', async () => {
  const api = {
    textUrl: 'https://text.example/',
    contentUrl: 'https://content.example/',
    failedAccountChangesUrl: 'q',
  };
  const { stdout } = await withCredentials(credentials, () =>
    deploy('dev', { exitCode: 0, outputs: { 'gateway-dev-data': data, 'gateway-dev-api': api } }),
  );
  expect(stdout).toMatch(/^textUrl {5}https:\/\/text\.example\/$/m);
  expect(stdout).not.toMatch(/Base URL|failedAccount/);
});

test('a failed step is named with how to continue, and later steps do not run', async () => {
  const failed = await withCredentials(credentials, () => deploy('staging', { exitCode: 3 }));
  expect([failed.status, failed.stdout]).toEqual([1, '']);
  expect(failed.stderr).toContain('Step 1 of 2 (stacks) failed: cdk deploy ended with 3.');
  expect(failed.stderr).toContain('npx cdk bootstrap aws://<account>/us-east-1');
  expect(failed.stderr).not.toContain('2 of 2');

  const elsewhere = { 'gateway-dev-data': { ...data, mediaBucketName: 'nobody-has-this-bucket' } };
  const unstored = await withCredentials(credentials, () => deploy('dev', { exitCode: 0, outputs: elsewhere }));
  expect([unstored.status, unstored.stdout]).toEqual([1, '']);
  expect(unstored.stderr).toMatch(
    /^Step 2 of 2 \(pages\) failed: .*Run the same command again to upload the pages\.$/m,
  );

  const prepared = await withCredentials(credentials, () => deploy('dev -- --no-execute', { exitCode: 0 }));
  expect([prepared.status, prepared.stderr]).toEqual([1, expect.stringContaining('cdk deploy wrote no outputs')]);
});

test('a deployment without credentials starts nothing', async () => {
  const run = await withCredentials({}, () => deploy('dev', { exitCode: 0, outputs }));
  expect([run.status, run.calls, run.stdout]).toEqual([1, [], '']);
  expect(run.stderr).toContain('AWS credentials: not found');
});

test('a dry run needs no credentials and lists the stacks and pages', async () => {
  const run = await withCredentials({}, () => deploy('dev --dry-run -- -c frontDoor=none', { exitCode: 0 }));
  expect(run.status).toBe(0);
  expect(run.calls).toEqual([
    ['synth', 'dev/*', '-c', 'environment=dev', '--quiet', '--output', expect.any(String), '-c', 'frontDoor=none'],
  ]);
  expect(run.stdout).toMatch(/^gateway-dev-data {2,}us-east-1 +2$/m);
  expect(run.stdout).toMatch(/^pages\/app\/index\.html {2,}text\/html; charset=utf-8 +\d+$/m);
  const broken = await deploy('dev --dry-run', { exitCode: 1 });
  expect([broken.status, broken.stderr]).toEqual([1, expect.stringContaining('cdk synth failed with exit code 1')]);
});
